"""relfast as a resources server of NeMo-Gym (0.4, Python 3.12): ``verify`` scores one response.

Rows have ``responses_create_params`` and, beside it or in ``verifier_metadata``, ``task``, ``answer`` and
``question``. A response without a score has reward 0 and ``mask_sample``. ``relfast serve`` speaks the same
protocol by itself; this one is for runs that start their servers from configurations.
"""

from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)
from pydantic import ConfigDict, PrivateAttr

from relfast import Scorer
from relfast.serve.nemo_gym import record_of


class RelfastVerifyRequest(BaseVerifyRequest):
    model_config = ConfigDict(extra="allow")


class RelfastVerifyResponse(BaseVerifyResponse):
    model_config = ConfigDict(extra="allow")

    mask_sample: bool


class RelfastResourcesServer(SimpleResourcesServer):
    config: BaseResourcesServerConfig
    _scorer: Scorer = PrivateAttr(default_factory=lambda: Scorer(policy="strict"))

    async def verify(self, body: RelfastVerifyRequest) -> RelfastVerifyResponse:
        row = body.model_dump()
        reward = await self._scorer.areward(*record_of(row))
        return RelfastVerifyResponse(**row, reward=reward or 0.0, mask_sample=reward is None)


if __name__ == "__main__":
    RelfastResourcesServer.run_webserver()
