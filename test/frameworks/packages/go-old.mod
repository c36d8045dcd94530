module weir.test/loop

go 1.24

require github.com/openai/openai-go/v3 v3.8.1
