#!/usr/bin/env bash
# One node: containerd and a kubelet in namespaces and control groups of their own. Runs until it is killed, and everything on the
# node ends with it. The network namespace is the caller's: all nodes of a cluster share one, with a bridge for each.
#
# usage: node.sh PROGRAMS FOLDER NUMBER KUBECONFIG ADDRESS MILLICORES
#   PROGRAMS  folder of kubelet        FOLDER      what is the node's own; images/*.tar in it are imported
#   NUMBER    its pods get 10.88.NUMBER.0/24       MILLICORES  what its pods may use together
set -euo pipefail
programs=$1 folder=$2 number=$3 kubeconfig=$4 address=$5 millicores=$6
name=real-$number
controllers="cpu cpuacct cpuset memory devices freezer blkio pids systemd"

own_group() { # of this process in the hierarchy of a controller
  local key=$1
  [ "$1" = systemd ] && key=name=systemd
  awk -F: -v key="$key" '{ split($2, names, ","); for (i in names) if (names[i] == key) print $3 }' /proc/self/cgroup
}

enter_groups() { # a group for the node in each hierarchy, so that what is measured on it is its own
  : > "$folder/groups"
  for controller in $controllers; do
    local parent
    parent=/sys/fs/cgroup/$controller$(own_group "$controller")
    local group=${parent%/}/evenkeel-$name-$$
    mkdir -p "$group"
    if [ "$controller" = cpuset ]; then
      cat "$parent/cpuset.cpus" > "$group/cpuset.cpus"
      cat "$parent/cpuset.mems" > "$group/cpuset.mems"
    fi
    echo "$group" >> "$folder/groups"
  done
  while read -r group; do echo $$ > "$group/cgroup.procs"; done < "$folder/groups"
}

mount_groups() { # the node sees its own groups as the whole
  mount -t tmpfs -o mode=755 groups /sys/fs/cgroup
  for controller in $controllers; do
    local options=$controller
    [ "$controller" = systemd ] && options=none,name=systemd
    mkdir "/sys/fs/cgroup/$controller"
    mount -t cgroup -o "$options" cgroup "/sys/fs/cgroup/$controller"
  done
}

show_settings() { # the kubelet wants these of the machine: it is shown files instead of setting them
  local setting
  for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
    kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
    local shown=$folder/settings/${setting%=*}
    mkdir -p "${shown%/*}"
    echo "${setting#*=}" > "$shown"
    mount --bind "$shown" "/proc/sys/${setting%=*}"
  done
}

bind() { # FROM TO
  mkdir -p "$1" "$2"
  mount --bind "$1" "$2"
}

if [ "${EVENKEEL_INSIDE:-}" = "" ]; then
  mkdir -p "$folder"
  enter_groups
  EVENKEEL_INSIDE=1 exec unshare --mount --cgroup --uts --ipc --pid --fork --kill-child --mount-proc "$0" "$@"
fi

hostname "$name"
mount_groups
show_settings
bind "$folder/kubelet" /var/lib/kubelet
mount -t tmpfs -o mode=755 run /run
mkdir -p /run/netns /run/containerd
bind "$folder/logs/pods" /var/log/pods
bind "$folder/logs/containers" /var/log/containers
bind "$folder/cni/state" /var/lib/cni
mkdir -p "$folder/cni/conf" "$folder/manifests"
cat > "$folder/cni/conf/10-bridge.conflist" <<EOF
{"cniVersion": "1.0.0", "name": "pods", "plugins": [{"type": "bridge", "bridge": "pods$number", "isGateway": true, "ipMasq": false,
 "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.88.$number.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
EOF
cat > "$folder/containerd.toml" <<EOF
version = 2
root = "$folder/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs", "io.containerd.internal.v1.opt"]
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "kubelets.local/pause:1"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$folder/cni/conf"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
EOF
cores=$(nproc)
cat > "$folder/kubelet.yaml" <<EOF
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: /
cgroupsPerQOS: true
enforceNodeAllocatable: [pods]
systemReserved: {cpu: $((cores * 1000 - millicores))m}
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
address: $address
healthzBindAddress: $address
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
failSwapOn: false
makeIPTablesUtilChains: false
resolvConf: ""
nodeStatusUpdateFrequency: 5s
nodeLeaseDurationSeconds: 20
EOF

containerd --config "$folder/containerd.toml" > "$folder/containerd.log" 2>&1 &
client=(ctr --namespace k8s.io)
until "${client[@]}" version > /dev/null 2>&1; do sleep 0.1; done
for image in "$folder"/images/*.tar; do "${client[@]}" images import "$image" >> "$folder/import.log" 2>&1; done
"${client[@]}" images label kubelets.local/pause:1 io.cri-containerd.pinned=pinned > /dev/null
"$programs/kubelet" --config="$folder/kubelet.yaml" --kubeconfig="$kubeconfig" --hostname-override="$name" \
  --node-ip="$address" > "$folder/kubelet.log" 2>&1 &
wait -n
echo "$name: containerd or the kubelet ended" >&2
exit 1
