module example.com/shop

go 1.21

require (
	github.com/google/uuid v1.3.0
	golang.org/x/text v0.3.7
	gopkg.in/yaml.v2 v2.2.1
)
