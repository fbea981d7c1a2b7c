"""relfast as a resources server of NeMo-Gym (0.4, Python 3.12): ``verify`` scores one response.

Rows have ``responses_create_params`` and, beside it or in ``verifier_metadata``, ``task``, ``answer`` and
``question``. A response without a score has reward 0 and ``mask_sample``. ``relfast serve`` speaks the same
protocol by itself; this one is for runs that start their servers from configurations.
"""

from typing import Any

from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)
from pydantic import ConfigDict

from relfast import Scorer
from relfast.serve.nemo_gym import record_of


class RelfastVerifyRequest(BaseVerifyRequest):
    model_config = ConfigDict(extra="allow")


class RelfastVerifyResponse(BaseVerifyResponse):
    model_config = ConfigDict(extra="allow")

    mask_sample: bool
    status: str


class RelfastResourcesServer(SimpleResourcesServer):
    config: BaseResourcesServerConfig

    def model_post_init(self, context: Any) -> None:
        super().model_post_init(context)
        self._scorer = Scorer(policy="strict")

    async def verify(self, body: RelfastVerifyRequest) -> RelfastVerifyResponse:
        row = body.model_dump()
        task, answer, response, question = record_of(row)
        reward = await self._scorer.areward(task, answer, response, question)
        told = {"reward": reward or 0.0, "mask_sample": reward is None}
        return RelfastVerifyResponse(**row, **told, status="ok" if reward is not None else "unscored")


if __name__ == "__main__":
    RelfastResourcesServer.run_webserver()
