"""NeMo-Gym: the page's resources server as its own class starts it, asked for what two responses are worth."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import sys


def row(text):
    message = {"role": "user", "content": "isomers?", "type": "message"}
    content = [{"type": "output_text", "text": text, "annotations": []}]
    output = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}
    response = {
        "id": "r",
        "created_at": 0.0,
        "model": "m",
        "object": "response",
        "output": [output],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }
    asked = {"task": "REL-C1", "answer": {"label": "Yes"}, "question": "isomers?"}
    return {**asked, "responses_create_params": {"input": [message]}, "response": response}


def rewards(folder):
    from nemo_gym.base_resources_server import BaseResourcesServerConfig
    from nemo_gym.server_utils import ServerClient

    spec = importlib.util.spec_from_file_location("app", f"{folder}/app.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["app"] = module
    spec.loader.exec_module(module)
    config = BaseResourcesServerConfig(host="127.0.0.1", port=1, entrypoint="app.py", name="relfast")
    client = ServerClient.model_construct(head_server_config=None)
    server = module.RelfastResourcesServer(config=config, server_client=client)
    assert "/verify" in {route.path for route in server.setup_webserver().routes}
    asked = [module.RelfastVerifyRequest.model_validate(row(text)) for text in ("<Yes>", "<No>")]
    return [asyncio.run(server.verify(each)).reward for each in asked]


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        found = rewards(sys.argv[1])
    print(json.dumps(found))
