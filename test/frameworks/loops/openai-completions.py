"""The official package for Python: a completion, whole and streamed with its usage."""

from scene import API_KEY, BASE_URL, MODEL
from openai import BadRequestError, OpenAI

client = OpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)
PROMPT = "Oslo and Rome"

whole = client.completions.create(model=MODEL, prompt=PROMPT)
assert (whole.object, whole.model, whole.choices[0].finish_reason) == ("text_completion", MODEL, "stop"), whole
assert PROMPT in whole.choices[0].text and whole.usage.total_tokens > 0, whole

options = {"include_usage": True}
chunks = list(client.completions.create(model=MODEL, prompt=[PROMPT], stream=True, stream_options=options))
assert {(chunk.object, chunk.id) for chunk in chunks} == {("text_completion", chunks[0].id)}, chunks
assert "".join(chunk.choices[0].text for chunk in chunks[:-1]) == whole.choices[0].text, chunks
assert (chunks[-2].choices[0].finish_reason, chunks[-1].choices) == ("stop", []), chunks
assert chunks[-1].usage == whole.usage, chunks[-1]

try:
    client.completions.create(model=MODEL, prompt=["Oslo", "Rome"])
    raise AssertionError("two prompts are to be refused")
except BadRequestError as error:
    assert (error.code, error.param) == ("unsupported_parameter", "prompt"), error
