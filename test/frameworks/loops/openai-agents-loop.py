"""The Agents SDK over chat completions: a tool, a typed output and a second run where the first output does not fit."""

import asyncio

from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from agents.exceptions import ModelBehaviorError
from scene import API_KEY, BASE_URL, MODEL, QUESTION, WEATHER, Report, check_cities, check_report
from openai import AsyncOpenAI

set_tracing_disabled(True)
client = AsyncOpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)
asked: list[str] = []


@function_tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    asked.append(city)
    return WEATHER[city]


def agent(parallel: bool | None) -> Agent:
    return Agent(
        name="forecaster",
        model=OpenAIChatCompletionsModel(model=MODEL, openai_client=client),
        model_settings=ModelSettings(parallel_tool_calls=parallel),
        tools=[get_weather],
        output_type=Report,
    )


async def run(question: str, streamed: bool, parallel: bool | None = None) -> Report:
    if not streamed:
        return (await Runner.run(agent(parallel), question)).final_output
    result = Runner.run_streamed(agent(parallel), question)
    async for _ in result.stream_events():
        pass
    return result.final_output


async def main() -> None:
    for streamed in (False, True):
        asked.clear()
        try:
            await run(QUESTION, streamed)
            raise AssertionError("the first report is to be wrong")
        except ModelBehaviorError as error:
            problem = error
        check_cities(asked)
        check_report(await run(f"{QUESTION} Not so: {problem} tepid", streamed))
    asked.clear()
    check_report(await run(f"{QUESTION} One after the other, not tepid.", False, parallel=False))
    check_cities(asked)


asyncio.run(main())
