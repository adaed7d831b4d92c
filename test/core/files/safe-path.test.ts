import { execFile } from 'node:child_process'
import { lstat, mkdir, readdir, readlink, symlink, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import {
  PathRefusedError, isInside, isNothingThere, isPresent, isWalkedTo, openInside, resolveInside, safeName,
  safeRelativePath
} from '../../../core/files/safe-path.ts'
import { anyString } from '../../any-string.ts'
import { NASTY_NAMES } from './nasty-names.ts'

function isRefused (name: string): boolean {
  try {
    return safeName(name) !== name
  } catch (err) {
    if (err instanceof PathRefusedError) return true
    throw err
  }
}

t.test('a plain name is accepted unchanged', async (t) => {
  for (const name of ['Moon (USA).sfc', 'é 🎮', '..hidden', 'a..b', '...', ' ', '-rf', '%2e%2e%2f', '~', 'x'.repeat(255)]) {
    t.equal(safeName(name), name)
  }
})

t.test('a name that is a path, empty, too long or unprintable is refused and quoted', async (t) => {
  for (const name of ['', '.', '..', 'a/b', '/', '\\', '..\\a', 'C:', 'c:a', 'a\0b', 'a\nb', '\x7f', '\x85', '\ud800',
    'x'.repeat(256), 'é'.repeat(128), 'Game\u202Ecfs.exe', '\u200Fa', '\u2066a\u2069', '\u061Ca']) {
    t.ok(isRefused(name), JSON.stringify(name))
  }
  t.throws(() => safeName('../x'), { name: 'PathRefusedError', value: '../x', message: /"\.\.\/x".*send the name alone/ })
})

t.test('an accepted name is one component of a path', async () => {
  fc.assert(fc.property(anyString, (name) => isRefused(name) || relative('/base', join('/base', name)) === name))
})

t.test('a relative path loses its empty parts and must not contain ..', async (t) => {
  t.equal(safeRelativePath('./a//b/./c'), 'a/b/c')
  t.equal(safeRelativePath(''), '')
  t.equal(safeRelativePath('line\nfeed/é'), 'line\nfeed/é')
  for (const path of ['..', 'a/../b', 'a\\..\\b', '/etc', '\\\\host\\share', 'C:/x', 'c:\\x', 'a\0']) {
    t.throws(() => safeRelativePath(path), PathRefusedError, JSON.stringify(path))
  }
})

t.test('a backslash in the name of a file on disk stays', { skip: process.platform === 'win32' }, async (t) => {
  t.equal(safeRelativePath('folder/back\\slash'), 'folder/back\\slash')
})

t.test('none of 200 nasty names leads to a file outside the folder', async (t) => {
  const dir = t.testdir({ secret: 'key', etc: { passwd: 'key' }, base: { 'a.sfc': 'game', folder: {} } })
  const base = join(dir, 'base')
  await symlink('../secret', join(base, 'link'))
  await symlink('..', join(base, 'up'))
  await symlink('../new', join(base, 'dangling'))
  const escaped: string[] = []
  for (const path of NASTY_NAMES.flatMap((name) => [name, `folder/${name}`, `up/${name}`, `${name}/secret`])) {
    const resolved = await resolveInside(base, path).catch((err: unknown) => err)
    if (!(resolved instanceof PathRefusedError) && !isInside(base, String(resolved))) escaped.push(path)
    const opened = await openInside(base, path).catch((err: unknown) => err)
    if (!(opened instanceof Error)) escaped.push(path)
  }
  t.ok(NASTY_NAMES.length >= 200)
  t.same(escaped, [])
})

t.test('a file written under any accepted nasty name lands in the folder', async (t) => {
  const dir = t.testdir({ base: {} })
  const base = join(dir, 'base')
  const accepted = NASTY_NAMES.filter((name) => !isRefused(name))
  for (const name of accepted) await writeFile(await resolveInside(base, name), 'x')
  t.same(await readdir(dir), ['base'])
  t.same(new Set(await readdir(base)), new Set(accepted))
  t.ok(accepted.length > 20, 'harmless oddities are not refused')
})

t.test('links inside the folder are followed and links out of it refused', async (t) => {
  const dir = t.testdir({ secret: 'key', base: { real: { 'a.sfc': 'game' } } })
  const base = join(dir, 'base')
  await symlink('real', join(base, 'inside'))
  await symlink('../secret', join(base, 'outside'))
  await symlink('..', join(base, 'up'))
  await symlink('../new.sfc', join(base, 'dangling'))
  await symlink('circle', join(base, 'circle'))
  t.equal(await resolveInside(base, 'inside/a.sfc'), join(base, 'real/a.sfc'))
  t.equal(await resolveInside(base, 'inside/new/deeper.sfc'), join(base, 'real/new/deeper.sfc'))
  for (const path of ['outside', 'up/secret', 'up/new', 'dangling', 'dangling/x', 'circle', 'real/a.sfc/x']) {
    await t.rejects(resolveInside(base, path), PathRefusedError, path)
    await t.rejects(openInside(base, path), PathRefusedError, path)
  }
  const handle = await openInside(base, './inside/a.sfc')
  t.equal(await handle.readFile('utf8'), 'game')
  await handle.close()
})

t.test('a folder that is a link, or shares a prefix, is handled correctly', async (t) => {
  const dir = t.testdir({ base: { 'a.sfc': 'game' }, 'base-secret': { key: '' } })
  await symlink('base', join(dir, 'link'))
  const handle = await openInside(join(dir, 'link'), 'a.sfc')
  await handle.close()
  await symlink('../base-secret/key', join(dir, 'base/key'))
  await t.rejects(openInside(join(dir, 'base'), 'key'), PathRefusedError)
})

t.test('only regular files are opened, without waiting for a named pipe', { skip: process.platform === 'win32' }, async (t) => {
  const base = t.testdir({ folder: {} })
  await promisify(execFile)('mkfifo', [join(base, 'pipe')])
  await t.rejects(openInside(base, 'pipe'), { name: 'PathRefusedError', message: /not a regular file/ })
  await t.rejects(openInside(base, 'folder'), { name: 'PathRefusedError', message: /not a regular file/ })
  await t.rejects(openInside(base, 'missing'), { code: 'ENOENT' })
})

t.test('a refused entry is closed again', { skip: process.platform !== 'linux' }, async (t) => {
  const base = t.testdir({ folder: {} })
  await t.rejects(openInside(base, 'folder'), PathRefusedError)
  const descriptors = await readdir('/proc/self/fd')
  const paths = await Promise.all(descriptors.map((one) => readlink(`/proc/self/fd/${one}`).catch(() => '')))
  t.notOk(paths.includes(join(base, 'folder')))
})

t.test('a path is absent only if the system says so', async (t) => {
  const base = t.testdir({ 'a.sfc': 'game' })
  await symlink('gone', join(base, 'dangling'))
  t.same(await Promise.all(['a.sfc', 'dangling', 'gone'].map((name) => isPresent(join(base, name)))), [true, true, false])
  await t.rejects(isPresent(join(base, 'a.sfc', 'below')), { code: 'ENOTDIR' })
  t.same([{ code: 'ENOENT' }, { code: 'ENOTDIR' }, { code: 'EIO' }].map((fields) => isNothingThere(Object.assign(new Error('x'), fields))),
    [true, true, false])
})

t.test('without /proc, every part of the path is checked', async (t) => {
  const base = t.testdir({ folder: { 'a.sfc': 'a', 'b.sfc': 'b' } })
  await symlink('folder', join(base, 'link'))
  const stats = await lstat(join(base, 'folder/a.sfc'), { bigint: true })
  t.equal(await isWalkedTo(base, join(base, 'folder/a.sfc'), stats), true)
  t.equal(await isWalkedTo(base, join(base, 'folder/b.sfc'), stats), false)
  t.equal(await isWalkedTo(base, join(base, 'link/a.sfc'), stats), false)
})

t.test('a folder that is created meanwhile counts as one', async (t) => {
  const base = t.testdir({})
  for (let round = 0; round < 100; round++) {
    const path = `bios/${round}`
    const [, ...resolved] = await Promise.all([
      mkdir(join(base, path), { recursive: true }), ...Array.from({ length: 8 }, () => resolveInside(base, path))
    ])
    t.ok(resolved.every((one) => one === join(base, path)), path)
  }
})

t.test('a missing base throws the error of the file system', async (t) => {
  const dir = t.testdir({})
  await t.rejects(resolveInside(join(dir, 'gone'), 'a'), { code: 'ENOENT' })
  await mkdir(join(dir, 'base'))
  t.equal(await resolveInside(join(dir, 'base'), ''), join(dir, 'base'))
})
