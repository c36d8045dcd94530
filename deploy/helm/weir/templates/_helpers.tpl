{{- define "weir.name" -}}
{{- if contains "weir" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-weir{{ end -}}
{{- end }}

{{/* Labels that select the pods of a role. Takes (dict "root" $ "role" role). */}}
{{- define "weir.selector" -}}
app.kubernetes.io/name: weir
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "weir.labels" -}}
{{ include "weir.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "weir.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The secrets that a role uses by secrets.yaml and providerKeys, as "VARIABLE=key", one a line. */}}
{{- define "weir.secrets" -}}
{{- $values := .root.Values }}
{{- $role := .role }}
{{- range (.root.Files.Get "secrets.yaml" | fromYamlArray) }}
{{- $on := true }}
{{- with .when }}
{{- $on = $values }}
{{- range (splitList "." .) }}
{{- $on = index $on . }}
{{- end }}
{{- end }}
{{- if and $on (has $role .roles) }}
{{ .variable }}={{ .key }}
{{- end }}
{{- end }}
{{- if has $role (list "gateway" "prober") }}
{{- range $values.providerKeys }}
{{ .variable }}={{ .key }}
{{- end }}
{{- end }}
{{- end }}

{{- define "weir.environment" -}}
{{- $values := .root.Values }}
{{- $role := .role }}
{{- range (include "weir.secrets" . | trim | splitList "\n") }}
{{- $pair := splitList "=" . }}
- name: {{ index $pair 0 }}_FILE
  value: /run/secrets/weir/{{ index $pair 1 }}
{{- end }}
{{- if $values.plaintextHosts }}
- name: PLAINTEXT_HOSTS
  value: {{ $values.plaintextHosts | quote }}
{{- end }}
{{- if $values.authority.configMap }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/weir/authority/{{ $values.authority.key }}
{{- end }}
{{- if ne $role "migration" }}
{{- if not (has $role (list "admission" "metering")) }}
- name: REDIS_URL
  value: {{ required "redisAddress is needed, such as rediss://redis.example:6379" $values.redisAddress | quote }}
{{- end }}
- name: METRICS_PORT
  value: {{ $values.metrics.port | quote }}
- name: METRICS_HOST
  value: 0.0.0.0
- name: SANDBOX
  value: {{ ternary "on" "off" $values.sandbox | quote }}
{{- with $values.natsReplicas }}
- name: NATS_REPLICAS
  value: {{ . | quote }}
{{- end }}
{{- with $values.telemetry.endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- with $values.publicUrl }}
- name: PUBLIC_URL
  value: {{ . | quote }}
{{- end }}
{{- if and $values.mail.enabled (has $role (list "gateway" "mailer")) }}
- name: MAIL_FROM
  value: {{ required "mail.from is needed" $values.mail.from | quote }}
{{- end }}
{{- if and $values.mail.enabled (eq $role "gateway") }}
- name: SMTP_URL
  value: {{ required "mail.address is needed, such as smtp://mail.example:587" $values.mail.address | quote }}
{{- end }}
{{- if eq $role "gateway" }}
- name: CONSOLE
  value: {{ ternary "on" "off" $values.console | quote }}
- name: SHUTDOWN_LEAVE_MS
  value: {{ $values.gateway.leaveMs | quote }}
{{- if $values.oidc.enabled }}
- name: OIDC_ISSUER
  value: {{ required "oidc.issuer is needed" $values.oidc.issuer | quote }}
- name: OIDC_CLIENT_ID
  value: {{ required "oidc.clientId is needed" $values.oidc.clientId | quote }}
{{- with $values.oidc.name }}
- name: OIDC_NAME
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- if $values.aws.enabled }}
- name: AWS_ACCOUNT_ID
  value: {{ required "aws.accountId is needed" $values.aws.accountId | quote }}
- name: AWS_ACCESS_KEY_ID
  value: {{ required "aws.accessKeyId is needed" $values.aws.accessKeyId | quote }}
{{- end }}
{{- end }}
{{- if eq $role "admission" }}
{{- range $values.providerKeys }}
# Admission only checks that there is a key.
- name: {{ .variable }}
  value: set
{{- end }}
{{- end }}
{{- range $name, $value := $values.environment }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "weir.mounts" -}}
- name: secrets
  mountPath: /run/secrets/weir
  readOnly: true
- name: temporary
  mountPath: /tmp
{{- with .root.Values.authority.configMap }}
- name: authority
  mountPath: /etc/weir/authority
  readOnly: true
{{- end }}
{{- if .root.Values.catalog.configMap }}
{{- range .root.Values.catalog.files }}
- name: catalog
  mountPath: /app/catalog-data/{{ . }}
  subPath: {{ . }}
  readOnly: true
{{- end }}
{{- end }}
{{- end }}

{{- define "weir.volumes" -}}
- name: secrets
  secret:
    secretName: {{ .root.Values.existingSecret }}
    # Weir refuses files that every user may read.
    defaultMode: 0440
    items:
      {{- $keys := list }}
      {{- range (include "weir.secrets" . | trim | splitList "\n") }}
      {{- $keys = append $keys (index (splitList "=" .) 1) }}
      {{- end }}
      {{- range $keys | uniq }}
      - key: {{ . }}
        path: {{ . }}
      {{- end }}
- name: temporary
  emptyDir:
    sizeLimit: 1Gi
{{- with .root.Values.authority.configMap }}
- name: authority
  configMap:
    name: {{ . }}
{{- end }}
{{- with .root.Values.catalog.configMap }}
- name: catalog
  configMap:
    name: {{ . }}
{{- end }}
{{- end }}

{{/* What every pod has: no token of the cluster, and no right that it does not use. */}}
{{- define "weir.pod" -}}
{{- $values := .root.Values }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with $values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "weir.container" -}}
image: {{ include "weir.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
env:
  {{- include "weir.environment" . | trim | nindent 2 }}
{{- end }}
