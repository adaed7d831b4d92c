import { execFileSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { chmod, chown, cp, lstat, mkdir, mkdtemp, open, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { tryFetch } from '../e2e/server.ts'
import { freePort } from '../free-port.ts'
import { until } from '../until.ts'
import { type Container, type ContainerOptions, startContainer } from './image/container.ts'
import { FORMER, createFormer, fetchFormer } from './former-postgres.ts'
import { buildImage, buildPackages, fetchDebootstrap, makeBase } from './image/build.ts'
import { AUTHORIZATION, WAIT_MS } from './server.ts'

// Tests the image, built from its Dockerfile and run as Docker would run it, but with Linux tools, because Docker may
// be missing.

/** Maximum size of the server's layers on top of Node's own image. They had 203 MB when this was written. */
const LAYERS_MAX_MB = 210
/** e_machine: https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html */
const MACHINES = { amd64: 0x3e, arm64: 0xb7 }
const ELF = 0x7f454c46
/** Ids that occur in no /etc/passwd. */
const PUID = 4711
const PGID = 4712

const canRun = (command: string[]) => {
  try {
    execFileSync('unshare', ['--mount', '--pid', '--fork', ...command], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function whyNot (): string | null {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'images are built on Linux, amd64'
  if (process.getuid?.() !== 0) return 'only root may make mounts'
  return canRun(['true']) && canRun(['mount', '-t', 'overlay', 'overlay', '-o', 'lowerdir=/usr:/etc', '/mnt'])
    ? null
    : 'namespaces or overlayfs are not allowed here'
}

/** Lists the processor architectures of the programs in a folder. */
async function listMachines (folder: string): Promise<Map<number, string[]>> {
  const machines = new Map<number, string[]>()
  for (const path of globSync(['**/*.{node,so,so.*}', '**/native/bin/*'], { cwd: folder })) {
    const file = await open(join(folder, path))
    const { buffer } = await file.read(Buffer.alloc(20), 0, 20, 0)
    await file.close()
    const machine = buffer.readUInt16LE(18)
    if (buffer.readUInt32BE(0) === ELF) machines.set(machine, [...machines.get(machine) ?? [], path])
  }
  return machines
}

const skip = whyNot()
if (skip !== null) {
  t.plan(0, skip)
} else {
  await t.test('the image', runTests)
}

async function runTests (t: Test): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-image-'))
  t.teardown(async () => { await rm(folder, { recursive: true, force: true }) })
  const debootstrap = await fetchDebootstrap(join(folder, 'debootstrap'))
  if (debootstrap === null) return t.comment('debootstrap cannot be fetched here')
  const base = await makeBase(folder, debootstrap)
  const image = await buildImage(base, folder, 'amd64')
  const [layer = ''] = image.layers

  const library = join(folder, 'library')
  await mkdir(join(library, 'roms', 'snes'), { recursive: true })
  await writeFile(join(library, 'roms', 'snes', 'Game.sfc'), 'game')

  async function startImage (t: Test, data: string, options: Partial<ContainerOptions> = {}) {
    const port = await freePort()
    const env = {
      SVC_PORT: String(port), SVC_ADMIN_USERNAME: 'soak', SVC_ADMIN_PASSWORD: 'soak-tests-only', WEB_SERVER_CONCURRENCY: '1', ...options.env
    }
    const container = await startContainer(t, folder, { image, data: join(folder, data), library, ...options, env })
    return { container, url: `http://127.0.0.1:${port}` }
  }

  /** Waits until the image's health check succeeds and the scan worker runs. */
  async function untilHealthy<Started extends { container: Container, url: string }> (
    started: Started
  ): Promise<Started> {
    const { container, url } = started
    await until(async () => {
      if (container.child.exitCode !== null) throw new Error(`it ended with ${container.child.exitCode}:\n${container.output()}`)
      return (await container.exec(image.healthcheck).ended).code === 0
    }, 'a healthy server', { ...container, ms: WAIT_MS })
    const isReady = async () => (await tryFetch(`${url}/api/health/ready`))?.status === 200
    await until(isReady, 'a scan worker', { ...container, ms: WAIT_MS })
    return started
  }

  await t.test('adds little to the image of Node, and no secrets or test files', async (t) => {
    const megabytes = Number(/^\d+/.exec(execFileSync('du', ['-sm', layer], { encoding: 'utf8' }))?.[0])
    t.comment(`the layers take ${megabytes} MB`)
    t.ok(megabytes <= LAYERS_MAX_MB, `${megabytes} MB`)
    t.same(globSync(['**/.env*', '**/.npmrc', '**/id_{rsa,dsa,ecdsa,ed25519}*', '**/.git', '**/*.map'], { cwd: layer }), [])
    t.same(globSync(['test', '{sdk,providers/*,channels/*,exporters/*}/test'], { cwd: join(layer, 'svc') }), [])
    t.notOk(existsSync(join(layer, 'svc', 'node_modules', 'typescript')), 'nothing of development')
    t.same(await readdir(join(layer, 'data')), [])
  })

  await t.test('has only programs for its own architecture, whatever the build machine', async (t) => {
    const packages = { amd64: join(layer, 'svc', 'node_modules'), arm64: await buildPackages(base, folder, 'arm64') }
    for (const [arch, path] of Object.entries(packages)) {
      const machines = await listMachines(path)
      t.same([...machines.keys()], [MACHINES[arch as keyof typeof MACHINES]], arch)
      const found = [...machines.values()].flat().join('\n')
      for (const program of ['native/bin/postgres', 'libpq.so', 'argon2', 'libvips']) t.match(found, program, `${arch} has ${program}`)
    }
  })

  await t.test('runs as PUID and PGID on a read-only root and library, without capabilities', async (t) => {
    const started = await startImage(t, 'data', { env: { PUID: String(PUID), PGID: String(PGID) } })
    await untilHealthy(started)
    const { container, url } = started
    const processes = container.processes()
    t.ok(processes.some(({ name }) => name === 'postgres'), 'the database is seen')
    for (const { name, uid, gid, groups, capabilities } of processes) {
      t.same({ uid, gid, groups }, { uid: String(PUID), gid: String(PGID), groups: '' }, name)
      t.match(capabilities, /^0+$/, name)
    }

    const scan = await container.exec(['svc', 'scan']).ended
    t.equal(scan.code, 0, 'a command finds the server')
    const platforms = await fetch(`${url}/api/platforms`, { headers: { authorization: AUTHORIZATION } })
    t.match(await platforms.json(), [{ slug: 'snes', rom_count: 1 }])
    t.same(await readdir(join(library, 'roms', 'snes')), ['Game.sfc'])
    const plugin = await container.exec(['svc', 'plugins']).ended
    t.match(plugin.output, /igdb .*disabled/)

    for (const path of await readdir(join(folder, 'data'), { recursive: true })) {
      const { uid, gid } = await lstat(join(folder, 'data', path)).catch(() => ({ uid: PUID, gid: PGID }))
      t.same([uid, gid], [PUID, PGID], path)
    }
    t.equal(await container.stop(), 0, 'process 1 gets the signal')
    t.match(container.output(), 'svc stops')
  })

  await t.test('is backed up while it runs, and restored by a container of its own', async (t) => {
    const env = { PUID: String(PUID), PGID: String(PGID), SVC_BACKUP_PASSPHRASE: 'four words or more' }
    const { container } = await untilHealthy(await startImage(t, 'data', { env }))
    const saved = await container.exec(['svc', 'backup']).ended
    t.equal(saved.code, 0, saved.output)
    t.equal(await container.stop(), 0)
    const [name = ''] = globSync('svc-*.tar.gz', { cwd: join(folder, 'data', 'backups') })
    const restoring = await startImage(t, 'data', { env, cmd: ['svc', 'restore', `/data/backups/${name}`] })
    const { code, output } = await restoring.container.ended
    t.equal(code, 0, output)
    t.match(output, '/data is as it was on ')
    const { uid, gid } = await lstat(join(folder, 'data', 'db'))
    t.same([uid, gid], [PUID, PGID])
    const again = await untilHealthy(await startImage(t, 'data', { env }))
    t.equal((await fetch(`${again.url}/api/platforms`, { headers: { authorization: AUTHORIZATION } })).status, 200)
    t.equal(await again.container.stop(), 0)
  })

  await t.test("changes the data's owner to another PUID", async (t) => {
    const started = await startImage(t, 'data', { env: { PUID: String(PUID + 2), PGID: '1000' } })
    await untilHealthy(started)
    t.equal(await started.container.stop(), 0)
    const { uid, gid } = await lstat(join(folder, 'data', 'db'))
    t.same([uid, gid], [PUID + 2, 1000])
  })

  await t.test('runs as any given user, known or not, and its files follow UMASK', async (t) => {
    const own = join(folder, 'own')
    await cp(library, own, { recursive: true })
    for (const path of ['', 'roms', 'roms/snes']) {
      await chown(join(own, path), PUID, 0)
      await chmod(join(own, path), 0o2775)
    }
    await mkdir(join(folder, 'data-user'))
    await chown(join(folder, 'data-user'), PUID, 0)
    const started = await startImage(t, 'data-user', {
      user: { uid: PUID, gid: 0 }, library: own, isLibraryWritable: true, env: { UMASK: '002' }
    })
    await untilHealthy(started)
    const { container, url } = started
    t.same([...new Set(container.processes().map(({ uid }) => uid))], [String(PUID)])
    t.equal((await container.exec(['svc', 'scan']).ended).code, 0)
    const [{ id } = { id: 0 }] = await (await fetch(`${url}/api/platforms`, { headers: { authorization: AUTHORIZATION } })).json() as { id: number }[]
    const form = new FormData()
    form.append('files', new Blob(['bios']), 'bios.bin')
    const upload = await fetch(`${url}/api/firmware?platform_id=${id}`, { method: 'POST', body: form, headers: { authorization: AUTHORIZATION } })
    t.equal(upload.status, 200, await upload.text())
    const [bios = ''] = globSync('**/bios.bin', { cwd: own })
    t.equal((await lstat(join(own, bios))).mode & 0o777, 0o664)
    t.equal((await lstat(join(folder, 'data-user', 'db'))).mode & 0o777, 0o700, 'the database is nobody else’s')
    t.equal(await container.stop(), 0)
  })

  await t.test('moves a database of the former PostgreSQL with programs that npm downloads', async (t) => {
    const [former, data] = [join(folder, 'former'), join(folder, 'data-former')]
    if (!await fetchFormer(former)) return t.comment(`npm has no PostgreSQL ${FORMER} here`)
    await createFormer(former)
    await mkdir(data)
    for (const name of ['db', 'identity']) await cp(join(former, name), join(data, name), { recursive: true, verbatimSymlinks: true })
    const { NODE_EXTRA_CA_CERTS: authorities } = process.env
    if (authorities !== undefined) await cp(authorities, join(data, 'authorities.pem'))
    const started = await startImage(t, 'data-former', {
      env: {
        PUID: String(PUID),
        PGID: String(PGID),
        ...authorities === undefined ? {} : { NODE_EXTRA_CA_CERTS: '/data/authorities.pem', npm_config_cafile: '/data/authorities.pem' }
      }
    })
    await untilHealthy(started)
    t.not((await readFile(join(data, 'db', 'PG_VERSION'), 'utf8')).trim(), FORMER)
    t.ok(existsSync(join(data, 'postgresql', FORMER, 'node_modules')), 'what npm fetched')
    t.ok((await readdir(data)).some((name) => name.startsWith(`postgresql-${FORMER}-`)), 'the former one is kept')
    t.equal(await started.container.stop(), 0)
  })

  await t.test('process 1 can end during its start, and adopts orphaned processes', async (t) => {
    const early = await startImage(t, 'data-early')
    await until(() => early.container.processes().some(({ name }) => name === 'tini'), 'a start', { ...early.container, ms: WAIT_MS })
    await early.container.stop()
    t.notOk(await tryFetch(`${early.url}/api/health`))

    const started = await startImage(t, 'data-early')
    await untilHealthy(started)
    const { container } = started
    await container.exec(['sh', '-c', 'sleep 1000 > /dev/null 2>&1 &']).ended
    const findOrphan = () => container.processes().find(({ name }) => name === 'sleep')
    const orphan = await until(findOrphan, 'an orphan', container)
    process.kill(orphan.pid, 'SIGKILL')
    await until(() => findOrphan() === undefined, 'its end, with nothing left of it', container)
    t.equal(await container.stop(), 0)
  })

  await t.test('reports errors in its own settings', async (t) => {
    const { container } = await startImage(t, 'data-wrong', { env: { PUID: 'me' } })
    const { code, output } = await container.ended
    t.equal(code, 2)
    t.match(output, "PUID='me'")
  })
}
