import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const OCI = 'application/vnd.oci.image';
const NOBODY = 65534;

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/**
 * Writes an image with one static program in it as a tar of an OCI image layout (image-spec 1.1), which `ctr images import` takes.
 * `reference` is its name with a tag, such as `kubelets.local/pause:1`.
 */
export function writeImage(program: string, reference: string, file: string): void {
  const work = mkdtempSync(join(tmpdir(), 'evenkeel-image-'));
  try {
    const layout = join(work, 'layout');
    const blobs = join(layout, 'blobs', 'sha256');
    mkdirSync(blobs, { recursive: true });
    const store = (mediaType: string, content: Buffer): Descriptor => {
      const hex = createHash('sha256').update(content).digest('hex');
      writeFileSync(join(blobs, hex), content);
      return { mediaType: `${OCI}.${mediaType}`, digest: `sha256:${hex}`, size: content.length };
    };
    const storeJson = (mediaType: string, object: object): Descriptor =>
      store(mediaType, Buffer.from(JSON.stringify(object)));
    const layer = store('layer.v1.tar', layerOf(program, work));
    const config = storeJson('config.v1+json', {
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: { Entrypoint: [`/${basename(program)}`], User: `${NOBODY}:${NOBODY}` },
      rootfs: { type: 'layers', diff_ids: [layer.digest] },
    });
    const manifest = storeJson('manifest.v1+json', {
      schemaVersion: 2,
      mediaType: `${OCI}.manifest.v1+json`,
      config,
      layers: [layer],
    });
    const annotations = { 'io.containerd.image.name': reference };
    writeFileSync(join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
    writeFileSync(
      join(layout, 'index.json'),
      JSON.stringify({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }),
    );
    execFileSync('tar', ['-cf', file, '-C', layout, '.']);
  } finally {
    rmSync(work, { recursive: true });
  }
}

function layerOf(program: string, work: string): Buffer {
  const root = join(work, 'root');
  mkdirSync(root);
  copyFileSync(program, join(root, basename(program)));
  const file = join(work, 'layer.tar');
  execFileSync('tar', ['-cf', file, '--owner=0', '--group=0', '--mtime=@0', '-C', root, '.']);
  return readFileSync(file);
}
