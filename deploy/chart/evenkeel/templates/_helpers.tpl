{{/* Labels of every object. Names are fixed: the Lease, its rights and the placement policy are one per cluster. */}}
{{- define "evenkeel.labels" -}}
app.kubernetes.io/name: evenkeel
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "evenkeel.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{/* The account that roles are bound to. */}}
{{- define "evenkeel.subject" -}}
kind: ServiceAccount
name: {{ .Values.serviceAccount.name }}
namespace: {{ .Release.Namespace }}
{{- end }}

{{/* Name of the Secret with the certificate of /metrics; empty for a self-signed one. */}}
{{- define "evenkeel.tlsSecret" -}}
{{- if .Values.metrics.tls.secretName -}}
{{ .Values.metrics.tls.secretName }}
{{- else if .Values.metrics.tls.certManager.enabled -}}
evenkeel-metrics-tls
{{- end -}}
{{- end }}

{{/* The flags of the operator: those of its defaults are left out, as in the kustomize base. */}}
{{- define "evenkeel.args" -}}
- operator
- {{ printf "--health-address=%s:%d" .Values.bindAddress (int .Values.health.port) | quote }}
- {{ printf "--metrics-address=%s:%d" .Values.bindAddress (int .Values.metrics.port) | quote }}
{{- if ne .Values.leaseDuration "15s" }}
- --lease-duration={{ .Values.leaseDuration }}
{{- end }}
{{- if ne .Values.logLevel "info" }}
- --log-level={{ .Values.logLevel }}
{{- end }}
{{- if .Values.metrics.insecure }}
- --metrics-insecure=anywhere
{{- else if include "evenkeel.tlsSecret" . }}
- --tls-cert-file=/etc/evenkeel/tls/tls.crt
- --tls-private-key-file=/etc/evenkeel/tls/tls.key
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{/* Values that contradict one another, or the cluster; each message says what to write instead. */}}
{{- define "evenkeel.check" -}}
{{- if and .Values.metrics.insecure (include "evenkeel.tlsSecret" .) }}
{{- fail "metrics.insecure means plain HTTP: remove it, or remove metrics.tls" }}
{{- end }}
{{- if and (ne .Values.mode "dry-run") .Values.admissionPolicies (semverCompare "<1.36.0-0" .Capabilities.KubeVersion.Version) }}
{{- fail (printf "mode %s steers by MutatingAdmissionPolicies, which Kubernetes serves from 1.36 on, and this is %s: write mode: dry-run, or admissionPolicies: false to evict without steering" .Values.mode .Capabilities.KubeVersion.Version) }}
{{- end }}
{{- if and (not .Values.serviceAccount.create) (eq .Values.serviceAccount.name "default") }}
{{- fail "serviceAccount.name default would give the operator's rights to every pod of the namespace that names no account: write another one" }}
{{- end }}
{{- if .Values.crds.check }}
{{- include "evenkeel.checkCrds" . }}
{{- end }}
{{- end }}

{{/*
Helm creates CRDs and never changes them, so that an upgrade would leave the old ones, and the API server would drop what they
do not know without a word. Where there is no cluster to ask (helm template), nothing is compared.
*/}}
{{- define "evenkeel.checkCrds" -}}
{{- range $path, $content := .Files.Glob "crds/*.yaml" }}
{{- $ours := $content | toString | fromYaml }}
{{- $theirs := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $ours.metadata.name }}
{{- if $theirs }}
{{- if ne (include "evenkeel.schemas" $ours) (include "evenkeel.schemas" $theirs) }}
{{- fail (printf "the cluster has another version of the CRD %s than chart %s, and Helm never changes CRDs. First run: helm show crds CHART | kubectl apply --server-side --force-conflicts -f -" $ours.metadata.name $.Chart.Version) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "evenkeel.schemas" -}}
{{- range .spec.versions }}
{{- .name }} {{ toJson .schema }}
{{ end }}
{{- end }}
