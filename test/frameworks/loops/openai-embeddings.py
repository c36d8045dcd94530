"""The official package for Python: embeddings with and without encoding_format, which read as the same numbers."""

from scene import API_KEY, BASE_URL, MODEL
from openai import BadRequestError, OpenAI

client = OpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)


def vectors(**request) -> list:
    answer = client.embeddings.create(model=MODEL, input=["Oslo", "Rome", "Oslo"], **request)
    assert (answer.object, answer.model, answer.usage.prompt_tokens) == ("list", MODEL, 3), answer
    assert [item.index for item in answer.data] == [0, 1, 2], answer
    return [item.embedding for item in answer.data]


# Without a format the package asks for base64, and decodes it.
decoded = vectors()
assert [len(vector) for vector in decoded] == [64, 64, 64], decoded
assert decoded[0] == decoded[2] != decoded[1]
floats = vectors(encoding_format="float")
for vector, other in zip(decoded, floats):
    assert max(abs(one - two) for one, two in zip(vector, other)) < 1e-6, (vector, other)
assert all(isinstance(vector, str) for vector in vectors(encoding_format="base64"))
assert [len(vector) for vector in vectors(dimensions=8)] == [8, 8, 8]
try:
    vectors(dimensions=65)
    raise AssertionError("65 dimensions are to be refused")
except BadRequestError as error:
    assert (error.code, error.param) == ("invalid_request", "dimensions"), error
