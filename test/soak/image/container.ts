import { readFileSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { until } from '../../until.ts'
import { WAIT_MS } from '../server.ts'
import type { Image } from './build.ts'
import { type Running, firstProcess, quote, run, start, startApart } from './namespace.ts'

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** The capabilities that examples/self-host/compose.yml leaves to root. The kernel drops all others. */
const CAPABILITIES = ['chown', 'dac_read_search', 'setgid', 'setuid']
const AS_ROOT = ['setpriv', '--inh-caps=-all', `--bounding-set=-all,${CAPABILITIES.map((name) => `+${name}`).join(',')}`, '--no-new-privs', '--']

export interface ContainerOptions {
  image: Image
  data: string
  library: string
  isLibraryWritable?: boolean
  env: Record<string, string>
  /** Overrides the image's own command. */
  cmd?: string[]
  /** Like `docker run --user`; by default root with few capabilities. */
  user?: { uid: number, gid: number }
}

export interface Container extends Running {
  /** Process 1, by its id outside the container. */
  pid: number
  /** Lists its processes, including zombies. */
  processes (): Process[]
  /** Runs a command like `docker exec`: as the user of the container, not as a child of process 1. */
  exec (command: readonly string[]): Running
  stop (): Promise<number | null>
}

export interface Process { pid: number, name: string, uid: string, gid: string, groups: string, capabilities: string }

function readProcess (pid: number): Process[] {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const field = (name: string) => new RegExp(`^${name}:[\\t ]*(.*)$`, 'm').exec(status)?.[1]?.trim() ?? ''
    return [{
      pid,
      name: field('Name'),
      uid: field('Uid').split('\t')[1] ?? '',
      gid: field('Gid').split('\t')[1] ?? '',
      groups: field('Groups'),
      capabilities: field('CapEff')
    }]
  } catch {
    // The process has just ended.
    return []
  }
}

/** Lists the processes of the same namespace. */
function listProcesses (first: number): Process[] {
  const namespace = (pid: number | string) => {
    try {
      return readFileSync(`/proc/${pid}/status`, 'utf8').match(/^NSpid:(.*)$/m)?.[1]?.trim().split(/\s+/) ?? []
    } catch {
      return []
    }
  }
  const depth = namespace(first).length
  const children = (pid: number): number[] => {
    const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && namespace(name).length === depth).map(Number)
    return found.filter((one) => one === pid || isBelow(one, pid))
  }
  return children(first).flatMap(readProcess)
}

function isBelow (pid: number, ancestor: number): boolean {
  for (let at = pid; at > 1;) {
    try {
      at = Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${at}/status`, 'utf8'))?.[1] ?? 0)
    } catch {
      return false
    }
    if (at === ancestor) return true
  }
  return false
}

/** Starts the image on a read-only root. Only the volumes and a tmpfs are writable. */
export async function startContainer (t: Pick<Test, 'teardown'>, folder: string, options: ContainerOptions): Promise<Container> {
  const { image, cmd = image.cmd, data, library, isLibraryWritable = false, user } = options
  const { layers, env: imageEnv, workdir } = image
  const root = await mkdtemp(join(folder, 'root-'))
  await mkdir(data, { recursive: true })
  const env = { PATH, ...imageEnv, ...options.env }
  const switchUser = user === undefined ? '' : `--userspec=${user.uid}:${user.gid} --groups=`
  const command = user === undefined ? [...AS_ROOT, ...cmd] : ['setpriv', '--no-new-privs', '--', ...cmd]
  const running = startApart([
    `root=${quote(root)}`,
    `mount -t overlay overlay -o lowerdir=${layers.map(quote).join(':')} "$root"`,
    `mount --bind ${quote(data)} "$root/data"`,
    `mount --bind ${quote(library)} "$root/library"`,
    ...isLibraryWritable ? [] : ['mount -o remount,bind,ro "$root/library"'],
    'mount -t tmpfs tmpfs "$root/tmp"',
    'mount -t proc proc "$root/proc"',
    'mount --bind /dev "$root/dev"',
    'mount -t tmpfs tmpfs "$root/dev/shm"',
    // The root path is relative to process 1, as in a container.
    `exec env -i ${Object.entries(env).map(([name, value]) => quote(`${name}=${value}`)).join(' ')} ` +
      `chroot ${switchUser} "$root" sh -c 'cd ${workdir}; exec "$@"' sh ${command.map(quote).join(' ')}`
  ].join('\n'), { PATH: process.env.PATH })
  t.teardown(async () => {
    running.child.kill('SIGKILL')
    await running.ended
  })
  const pid = await until(() => firstProcess(running), 'process 1', { ...running, ms: WAIT_MS })
  return {
    ...running,
    pid,
    processes: () => listProcesses(pid),
    exec (words) {
      const switched = user === undefined ? AS_ROOT : ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', '--']
      return start('nsenter', [`--target=${pid}`, '--mount', '--pid', '--root', `--wd=/proc/${pid}/root${workdir}`,
        'env', '-i', ...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...switched, ...words])
    },
    async stop () {
      await run('kill', ['-TERM', String(pid)])
      return (await running.ended).code
    }
  }
}
