import { execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { access, mkdir, mkdtemp, readFile, readdir, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { buildTestApp } from '../support.ts'
import { addRom } from '../plugins/roms/support.ts'
import { baseOf, createToken } from '../plugins/webdav/support.ts'
import { installDebian } from './install-debian.ts'

const execute = promisify(execFile)
const CLIENT_MS = 60_000
const ROMS = 5_000
const PACKAGES = ['cadaver', 'rclone', 'davfs2']

const isThere = (path: string) => access(path).then(() => true, () => false)
/** Installs the clients if possible. @returns true if they are installed */
const hasClients = () => installDebian(PACKAGES, async () =>
  (await Promise.all(['/usr/bin/cadaver', '/usr/bin/rclone', '/usr/sbin/mount.davfs'].map(isThere))).every(Boolean))

const sha1Of = (content: Buffer) => createHash('sha1').update(content).digest('hex')

if (!await hasClients()) {
  t.plan(0, `${PACKAGES.join(', ')} are not installed, and cannot be installed here`)
} else {
  const content = randomBytes(3_000_000)
  const library = { roms: { snes: { 'Größe & "more" #1.sfc': content, Multi: { 'disc 1.bin': 'first', sub: { inner: 'second' } } }, gb: {} } }
  const test = await buildTestApp(t, { library })
  await addRom(test, { fs_name: 'Größe & "more" #1.sfc', file: { file_size_bytes: content.length } })
  await addRom(test, { fs_name: 'Multi', files: ['disc 1.bin', 'sub/inner'], file: { file_size_bytes: 6 } })
  await test.app.pg.query('update rom_files set file_size_bytes = 5 where file_name = \'disc 1.bin\'')
  const { id: platform } = (await test.app.platforms.ensure(test.app.db, 'gb')).platform
  await test.app.pg.query(`with made as (insert into roms (platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext, name_sort_key)
      select $1, 'Game ' || n || '.gb', 'roms/gb', 'Game ' || n, 'Game ' || n, '' from generate_series(1, $2) n returning id, fs_name)
    insert into rom_files (rom_id, file_name, file_path, file_size_bytes, last_modified) select id, fs_name, 'roms/gb', 1, now() from made`, [platform, ROMS])
  const base = await baseOf(test)
  const { authorization } = await createToken(test, test.admin, 'Computer', ['roms.read', 'assets.read', 'assets.write'])
  const [user = '', password = ''] = Buffer.from(authorization.slice('Basic '.length), 'base64').toString().split(':')
  const home = join(test.config.data_dir, '..', 'home')
  await mkdir(home)

  t.test('rclone lists, reads and checks the library', async (t) => {
    const { stdout: hidden } = await execute('rclone', ['obscure', password])
    const env = {
      ...process.env,
      RCLONE_CONFIG: '/dev/null',
      RCLONE_CONFIG_SVC_TYPE: 'webdav',
      RCLONE_CONFIG_SVC_URL: base,
      RCLONE_CONFIG_SVC_VENDOR: 'other',
      RCLONE_CONFIG_SVC_USER: user,
      RCLONE_CONFIG_SVC_PASS: hidden.trim()
    }
    const rclone = (...args: string[]) => execute('rclone', ['--retries', '1', '--low-level-retries', '1', ...args], { env, maxBuffer: 64 * 1_024 ** 2, timeout: CLIENT_MS })
    const { stdout } = await rclone('lsf', '-R', 'svc:library/snes')
    t.same(stdout.trim().split('\n').sort(), ['Größe & "more" #1.sfc', 'Multi/', 'Multi/disc 1.bin', 'Multi/sub/', 'Multi/sub/inner'].sort())
    t.equal((await rclone('lsf', 'svc:library/gb')).stdout.trim().split('\n').length, ROMS)
    await rclone('copy', 'svc:library/snes', join(home, 'copy'))
    t.equal(sha1Of(await readFile(join(home, 'copy', 'Größe & "more" #1.sfc'))), sha1Of(content))
    t.equal(await readFile(join(home, 'copy', 'Multi', 'sub', 'inner'), 'utf8'), 'second')
    await writeFile(join(home, 'Game.srm'), 'a save')
    await rclone('copy', join(home, 'Game.srm'), 'svc:saves/Snes9x')
    t.equal((await rclone('cat', 'svc:saves/Snes9x/Game.srm')).stdout, 'a save')
    await t.rejects(rclone('copyto', join(home, 'Game.srm'), 'svc:library/snes/new.sfc'), 'the library is read-only')
  })

  t.test('cadaver lists and reads the library', async (t) => {
    await writeFile(join(home, '.netrc'), `machine 127.0.0.1\nlogin ${user}\npassword ${password}\n`, { mode: 0o600 })
    const cadaver = spawn('cadaver', [`${base}library/snes/`], { env: { ...process.env, HOME: home }, cwd: home })
    let output = ''
    cadaver.stdout.on('data', (chunk: Buffer) => { output += chunk.toString() })
    cadaver.stdin.end('ls\ncd Multi\nget "disc 1.bin" disc\nquit\n')
    await new Promise((resolve) => { cadaver.on('close', resolve) })
    t.match(output, /Coll:\s+Multi/)
    t.match(output, /more.* #1\.sfc\s+3000000/)
    t.equal(await readFile(join(home, 'disc'), 'utf8'), 'first')
  })

  t.test('davfs2 mounts the library', async (t) => {
    // Another path each time: davfs2 keeps files between runs, by host without port, and by this path.
    const target = await mkdtemp(join(tmpdir(), 'svc-davfs-'))
    t.teardown(() => rmdir(target))
    await writeFile(join(home, 'secrets'), `${base}library/ "${user}" "${password}"\n`, { mode: 0o600 })
    await writeFile(join(home, 'davfs2.conf'), `secrets ${join(home, 'secrets')}\nuse_locks 0\nask_auth 0\n`, { mode: 0o600 })
    try {
      await execute('mount', ['-t', 'davfs', '-o', `ro,conf=${join(home, 'davfs2.conf')}`, `${base}library/`, target], { timeout: CLIENT_MS })
    } catch (err) {
      t.comment(`davfs2 cannot mount here: ${err instanceof Error ? err.message : String(err)}`)
      return
    }
    try {
      t.equal(sha1Of(await readFile(join(target, 'snes', 'Größe & "more" #1.sfc'))), sha1Of(content))
      // Some kernels refuse the folders of davfs2 1.6, whatever the server lists.
      const names = await readdir(join(target, 'snes')).catch((err: NodeJS.ErrnoException) => err.code)
      if (names === 'EINVAL') t.comment('davfs2 cannot read folders on this kernel')
      else t.same(names, ['Größe & "more" #1.sfc', 'Multi'])
    } finally {
      await execute('umount', [target])
    }
  })
}
