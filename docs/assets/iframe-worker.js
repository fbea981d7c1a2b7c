// Search from disk: browsers start no worker from file://, so there the theme's search runs in a hidden frame instead.
// The theme looks for IFrameWorker by this name, and would fetch one from a CDN.
class IFrameWorker extends EventTarget {
  constructor(url) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.appendChild(this.frame);
    const inside = this.frame.contentWindow;
    addEventListener("message", (event) => {
      if (event.source !== inside) return;
      const passed = new MessageEvent("message", { data: event.data });
      this.dispatchEvent(passed);
      if (this.onmessage) this.onmessage(passed);
    });
    inside.document.open();
    inside.document.write(
      `<!doctype html><script>
        postMessage = (data) => parent.postMessage(data, "*");
        importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done, failed) => {
          const script = document.createElement("script");
          script.src = url;
          script.onload = done;
          script.onerror = failed;
          document.head.appendChild(script);
        })), Promise.resolve());
      <\/script><script src="${url}"><\/script>`,
    );
    inside.document.close();
    this.ready = new Promise((done) => { inside.onload = done; });
  }
  postMessage(data) {
    this.ready.then(() => {
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) }));
    });
  }
  terminate() { this.frame.remove(); }
}
window.IFrameWorker = IFrameWorker;
if (location.protocol === "file:") window.Worker = IFrameWorker;
