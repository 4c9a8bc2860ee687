{{/* What is read of jobs and what is theirs. */}}
{{- define "sluice.rules.read" -}}
- {apiGroups: [sluice.dev], resources: [streamjobs], verbs: [get, list, watch]}
- {apiGroups: [""], resources: [pods], verbs: [get, list, watch]}
- {apiGroups: [""], resources: [configmaps, serviceaccounts, services], verbs: [get]}
- {apiGroups: [policy], resources: [poddisruptionbudgets], verbs: [get]}
- {apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings], verbs: [get]}
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, list, watch]}
- {apiGroups: [""], resources: [events], verbs: [get]}
{{- end }}

{{/* What is written. `bind` lets it give drivers this one ClusterRole, and no rights that it has not itself. */}}
{{- define "sluice.rules.write" -}}
- {apiGroups: [sluice.dev], resources: [streamjobs/status], verbs: [patch]}
- {apiGroups: [""], resources: [configmaps, pods, serviceaccounts, services], verbs: [create, delete, patch]}
- {apiGroups: [policy], resources: [poddisruptionbudgets], verbs: [create, delete, patch]}
- {apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings], verbs: [create, delete, patch]}
- {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [{{ .Values.driverRole.name }}], verbs: [bind]}
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create, delete, patch]}
- {apiGroups: [""], resources: [events], verbs: [create, patch]}
{{- end }}

{{/* Nodes and all pods on them: what is free where. */}}
{{- define "sluice.rules.nodes" -}}
- {apiGroups: [""], resources: [nodes, pods], verbs: [get, list, watch]}
{{- end }}
