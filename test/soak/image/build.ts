import { existsSync, statSync } from 'node:fs'
import { cp, mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { SERVER_DIR } from '../../../core/server-dir.ts'
import { type Stage, argumentsOf, listContext, readStages, sourceStageOf, wordsOf } from './dockerfile.ts'
import { quote, run, runApart } from './namespace.ts'

// Builds the image from its Dockerfile without Docker: a stage is a folder laid over the base, and each RUN runs in it
// as root. The base is Debian's smallest system with only this Node, its npm and the user `node`.

const DEBIAN = 'http://deb.debian.org/debian'
/** Files of the machine that are mounted so that packages can be downloaded. They are never part of a stage. */
const LENT = ['/etc/resolv.conf', '/etc/hosts', '/etc/ssl/certs'].filter((path) => existsSync(path))
const { NODE_EXTRA_CA_CERTS: authorities } = process.env
const AUTHORITIES: NodeJS.ProcessEnv = { NODE_EXTRA_CA_CERTS: authorities, npm_config_cafile: authorities }
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export interface Image {
  /** The lowest layer is last, as in overlayfs. */
  layers: string[]
  env: Record<string, string>
  workdir: string
  cmd: string[]
  healthcheck: string[]
  /** Folders of the intermediate stages, by name. */
  stages: ReadonlyMap<string, string>
}

/** @param unpacked a folder that contains the unpacked debootstrap */
export async function makeBase (folder: string, unpacked: string): Promise<string> {
  const base = join(folder, 'base')
  const env = { ...process.env, DEBOOTSTRAP_DIR: join(unpacked, 'usr', 'share', 'debootstrap') }
  const script = join(unpacked, 'usr', 'sbin', 'debootstrap')
  await run('sh', [script, '--variant=minbase', '--no-check-gpg', 'bookworm', base, DEBIAN], { env })
  await cp(process.execPath, join(base, 'usr', 'local', 'bin', 'node'))
  // npm's folder, two levels above npm/bin/npm-cli.js.
  const npm = dirname(dirname((await run('sh', ['-c', 'readlink -f "$(command -v npm)"'])).trim()))
  await cp(npm, join(base, 'usr', 'local', 'lib', 'node_modules', 'npm'), { recursive: true })
  await runApart(`chroot ${quote(base)} sh -euc ${quote('ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm; ' +
    'groupadd --gid 1000 node; useradd --uid 1000 --gid node --create-home node')}`, process.env)
  return base
}

class StageBuild {
  readonly #base: string
  readonly #folder: string
  readonly #done: ReadonlyMap<string, string>
  readonly #args: Record<string, string>
  readonly env: Record<string, string> = {}
  readonly upper: string
  workdir = '/'
  cmd: string[] = []
  healthcheck: string[] = []

  constructor (base: string, folder: string, done: ReadonlyMap<string, string>, args: Record<string, string>) {
    this.#base = base
    this.#folder = folder
    this.#done = done
    this.#args = args
    this.upper = join(folder, 'upper')
  }

  async run (command: string): Promise<void> {
    const [root, work] = [join(this.#folder, 'root'), join(this.#folder, 'work')]
    const lend = LENT.map((path) => statSync(path).isDirectory()
      ? `mkdir -p "$root${path}"; mount --bind ${path} "$root${path}"`
      : `touch "$root${path}"; mount --bind ${path} "$root${path}"`)
    await runApart([
      `root=${quote(root)}`,
      `mount -t overlay overlay -o ${quote(`lowerdir=${this.#base},upperdir=${this.upper},workdir=${work}`)} "$root"`,
      'mount -t proc proc "$root/proc"', 'mount --bind /dev "$root/dev"', ...lend,
      `exec chroot "$root" sh -euc ${quote(`cd ${this.workdir}; ${command}`)}`
    ].join('\n'), { ...AUTHORITIES, ...this.env, ...this.#args, PATH, HOME: '/root', DEBIAN_FRONTEND: 'noninteractive' })
  }

  async copy (from: string | null, words: string[]): Promise<void> {
    const target = resolve(join(this.upper, this.workdir), words.at(-1) ?? '')
    for (const word of words.slice(0, -1)) {
      if (from === null) {
        if (word !== '.') throw new Error(`no way to copy '${word}' here: write one`)
        for (const path of listContext()) await cp(join(SERVER_DIR, path), join(target, path))
      } else {
        // Copies a folder's content without resolving links.
        await cp(join(this.#done.get(from) ?? '', word), target, { recursive: true, verbatimSymlinks: true })
      }
    }
  }

  async build ({ steps }: Stage): Promise<void> {
    for (const name of ['upper', 'work', 'root']) await mkdir(join(this.#folder, name), { recursive: true })
    for (const step of steps) {
      const text = argumentsOf(step)
      switch (step.getKeyword()) {
        case 'WORKDIR':
          this.workdir = text
          await mkdir(join(this.upper, text), { recursive: true })
          break
        case 'ENV':
          for (const pair of text.split(/\s+/)) this.env[pair.slice(0, pair.indexOf('='))] = pair.slice(pair.indexOf('=') + 1)
          break
        case 'COPY':
          await this.copy(sourceStageOf(step), text.split(/\s+/))
          break
        case 'RUN':
          await this.run(text)
          break
        case 'CMD':
          this.cmd = wordsOf(step)
          break
        case 'HEALTHCHECK':
          this.healthcheck = wordsOf(step)
          break
        case 'ARG': case 'VOLUME': case 'EXPOSE': case 'ENTRYPOINT': break
        default: throw new Error(`no way to do ${step.getKeyword()} here: write one`)
      }
    }
  }
}

/** @param arch in Docker's terms: `amd64`, `arm64` */
export async function buildImage (base: string, folder: string, arch: string): Promise<Image> {
  const stages = new Map<string, string>()
  let last: StageBuild | null = null
  for (const stage of readStages()) {
    last = new StageBuild(base, join(folder, `${arch}-${stage.name}`), stages, { TARGETARCH: arch })
    await last.build(stage)
    stages.set(stage.name, last.upper)
  }
  if (last === null) throw new Error('The Dockerfile has no stage')
  const { upper, env, workdir, cmd, healthcheck } = last
  return { layers: [upper, base], env, workdir, cmd, healthcheck, stages }
}

/** Builds the stage that installs packages, for another architecture. */
export async function buildPackages (base: string, folder: string, arch: string): Promise<string> {
  const stages = new Map<string, string>()
  for (const stage of readStages().slice(0, -1)) {
    const build = new StageBuild(base, join(folder, `${arch}-${stage.name}`), stages, { TARGETARCH: arch })
    await build.build(stage)
    stages.set(stage.name, build.upper)
  }
  return join(stages.get('packages') ?? '', 'svc', 'node_modules')
}

/** Downloads Debian's debootstrap and unpacks it without an installation. @returns null if the download fails */
export async function fetchDebootstrap (folder: string): Promise<string | null> {
  try {
    await mkdir(folder, { recursive: true })
    await run('apt-get', ['update'])
    await run('apt-get', ['download', 'debootstrap'], { cwd: folder })
    await run('sh', ['-euc', 'dpkg -x debootstrap_*.deb .'], { cwd: folder })
    return folder
  } catch {
    // The system is another one, or has no access to packages. The test reports that.
    return null
  }
}
