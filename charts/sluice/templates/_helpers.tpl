{{- define "sluice.fullname" -}}
{{- if contains "sluice" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-sluice" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "sluice.selector" -}}
app.kubernetes.io/name: sluice
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "sluice.image" -}}
{{ required "image.repository is empty: name the image your cluster pulls the operator from" .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "sluice.pluginImage" -}}
{{ if and .Values.pluginImage (not .Values.agentImage) }}{{ fail "pluginImage needs agentImage: the plugin talks with the agent beside it" }}{{ end }}{{ .Values.pluginImage | default "" }}
{{- end }}

{{/* Values of an older release know no such group. */}}
{{- define "sluice.prometheusUrl" -}}
{{ (.Values.prometheus | default dict).url | default "" }}
{{- end }}

{{- define "sluice.account" -}}
{{ .Values.serviceAccount.name | default (include "sluice.fullname" .) }}
{{- end }}

{{- define "sluice.placement" -}}
{{ if ne .Values.placement "auto" }}{{ .Values.placement }}{{ else if .Values.namespaces }}off{{ else }}cluster{{ end }}
{{- end }}

{{/* The same on every container of ours: Pod Security Standard "restricted", and a root that cannot be written. */}}
{{- define "sluice.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "sluice.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end }}
