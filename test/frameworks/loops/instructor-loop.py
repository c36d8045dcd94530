"""instructor: two objects by parallel tool calls, then one that is requested again when it does not fit."""

from collections.abc import Iterable

import instructor
from scene import API_KEY, BASE_URL, MODEL, QUESTION, Report, check_cities, check_report
from openai import OpenAI
from pydantic import BaseModel

plain = OpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)


class get_weather(BaseModel):
    """The weather of a city."""

    city: str


ask = [{"role": "user", "content": QUESTION}]
parallel = instructor.from_openai(plain, mode=instructor.Mode.PARALLEL_TOOLS)
found = parallel.chat.completions.create(model=MODEL, messages=ask, response_model=Iterable[get_weather])
check_cities([one.city for one in found])

for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA):
    tries = []
    client = instructor.from_openai(plain, mode=mode)
    client.on("completion:response", tries.append)
    check_report(client.chat.completions.create(model=MODEL, messages=ask, response_model=Report, max_retries=1))
    assert len(tries) == 2, f"{mode}: {len(tries)} tries"
