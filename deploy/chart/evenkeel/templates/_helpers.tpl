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

{{/* Whether MutatingAdmissionPolicies steer: where a webhook does, they are not needed. */}}
{{- define "evenkeel.admissionPolicies" -}}
{{- and .Values.admissionPolicies (not .Values.webhook.enabled) -}}
{{- end }}

{{/* apiVersion of MutatingAdmissionPolicies: v1 where it is served, or where there is no cluster to ask. */}}
{{- define "evenkeel.admissionVersion" -}}
{{- $beta := "admissionregistration.k8s.io/v1beta1" -}}
{{- if .Values.admissionPolicyVersion -}}
admissionregistration.k8s.io/{{ .Values.admissionPolicyVersion }}
{{- else if and (not (.Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy")) (.Capabilities.APIVersions.Has (printf "%s/MutatingAdmissionPolicy" $beta)) -}}
{{ $beta }}
{{- else -}}
admissionregistration.k8s.io/v1
{{- end -}}
{{- end }}

{{/* Name of the Secret with a certificate of the webhook that others make; empty when the operator makes it. */}}
{{- define "evenkeel.webhookSecret" -}}
{{- if .Values.webhook.enabled -}}
{{- if .Values.webhook.tls.secretName -}}
{{ .Values.webhook.tls.secretName }}
{{- else if .Values.webhook.tls.certManager.enabled -}}
evenkeel-webhook-certificate
{{- end -}}
{{- end -}}
{{- end }}

{{/* The flags of the operator: those of its defaults are left out, as in the kustomize base. */}}
{{- define "evenkeel.args" -}}
- operator
- {{ printf "--health-address=%s:%d" .Values.bindAddress (int .Values.health.port) | quote }}
- {{ printf "--metrics-address=%s:%d" .Values.bindAddress (int .Values.metrics.port) | quote }}
{{- if .Values.webhook.enabled }}
- {{ printf "--webhook-address=%s:%d" .Values.bindAddress (int .Values.webhook.port) | quote }}
{{- end }}
{{- if .Values.shardPolicies }}
- --shard-policies
{{- end }}
{{- if ne .Values.leaseDuration "15s" }}
- --lease-duration={{ .Values.leaseDuration }}
{{- end }}
{{- if ne (int .Values.maxConcurrent) 100 }}
- --max-concurrent={{ .Values.maxConcurrent }}
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
{{- if include "evenkeel.webhookSecret" . }}
- --webhook-tls-cert-file=/etc/evenkeel/webhook/tls.crt
- --webhook-tls-private-key-file=/etc/evenkeel/webhook/tls.key
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
{{- if and (ne .Values.mode "dry-run") (eq (include "evenkeel.admissionPolicies" .) "true") (semverCompare "<1.36.0-0" .Capabilities.KubeVersion.Version) (ne (include "evenkeel.admissionVersion" .) "admissionregistration.k8s.io/v1beta1") }}
{{- fail (printf "mode %s steers by MutatingAdmissionPolicies, which Kubernetes serves from 1.36 on, and this is %s: write webhook.enabled: true to steer by a webhook of the operator, or admissionPolicies: false to evict without steering, or mode: dry-run; where v1beta1 is switched on, admissionPolicyVersion: v1beta1" .Values.mode .Capabilities.KubeVersion.Version) }}
{{- end }}
{{- if and .Values.webhook.enabled (eq .Values.mode "dry-run") }}
{{- fail "mode dry-run moves nothing, so that there is nothing to steer: remove webhook.enabled, or write mode: default" }}
{{- end }}
{{- if and .Values.webhook.tls.secretName (not .Values.webhook.tls.caBundle) (not .Values.webhook.tls.certManager.enabled) }}
{{- fail "webhook.tls.secretName needs webhook.tls.caBundle, the certificates in PEM by which API servers verify it" }}
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
