"""pydantic-ai: an agent with a tool and a typed output, which it requests again by itself; streamed and not."""

import asyncio

from scene import API_KEY, BASE_URL, MODEL, QUESTION, WEATHER, Report, check_cities, check_report
from pydantic import ValidationError
from pydantic_ai import Agent, NativeOutput, ToolOutput
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=BASE_URL, api_key=API_KEY))


async def run(output, streamed: bool) -> None:
    asked: list[str] = []
    agent = Agent(model, output_type=output, retries=1, name="forecaster")

    @agent.tool_plain
    def get_weather(city: str) -> str:
        """The weather of a city."""
        asked.append(city)
        return WEATHER[city]

    if streamed:
        async with agent.run_stream(QUESTION) as result:
            try:
                report = await result.get_output()
            except (UnexpectedModelBehavior, ValidationError) as error:
                # The framework does not retry a stream that has begun: its caller does.
                report = (await agent.run(f"{QUESTION} Not so: {error} tepid", message_history=None)).output
                asked = asked[:2]
    else:
        report = (await agent.run(QUESTION)).output
    check_cities(asked)
    check_report(report)


for kind in (ToolOutput(Report), NativeOutput(Report)):
    asyncio.run(run(kind, streamed=False))
    asyncio.run(run(kind, streamed=True))
