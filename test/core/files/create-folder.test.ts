import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createFolder } from '../../../core/files/create-folder.ts'

const MODULE = new URL('../../../core/files/create-folder.ts', import.meta.url).href

/** Runs a shell script in a mount namespace of its own, with rights to mount. */
const runWithMounts = (script: string, env: NodeJS.ProcessEnv = {}) => execFileSync(
  'unshare', [...process.getuid?.() === 0 ? [] : ['--map-root-user'], '--mount', 'sh', '-euc', script],
  { encoding: 'utf8', env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'ignore'] })

/** Returns why this machine cannot mount; false if it can. */
function findObstacle (): string | false {
  try {
    runWithMounts('mount -t tmpfs tmpfs /mnt')
    return false
  } catch {
    return 'only root, or user namespaces, may mount'
  }
}

t.test('on a read-only disk the error of a new folder says so', { skip: findObstacle() }, async (t) => {
  const folder = t.testdir({ disk: {} })
  const code = `const { createFolder } = await import(${JSON.stringify(MODULE)})
    for (const path of ['one', 'two/three']) await createFolder(process.env.DISK + '/' + path).catch(({ code }) => console.log(code))`
  const said = runWithMounts('mount -t tmpfs -o ro tmpfs "$DISK" && exec "$NODE" --input-type=module -e "$CODE"',
    { DISK: join(folder, 'disk'), NODE: process.execPath, CODE: code, NODE_OPTIONS: '' })
  t.equal(said, 'EROFS\nEROFS\n')
})

t.test('a new folder gets its parents, and an existing one stays', async (t) => {
  const folder = t.testdir({ file: '' })
  await createFolder(join(folder, 'a', 'b'))
  writeFileSync(join(folder, 'a', 'b', 'kept'), '')
  await createFolder(join(folder, 'a', 'b'))
  t.same(readdirSync(join(folder, 'a', 'b')), ['kept'])
  await t.rejects(createFolder(join(folder, 'file', 'below')), { code: 'ENOTDIR' })
  await t.rejects(createFolder(join(folder, 'x'.repeat(256), 'below')), { code: 'ENAMETOOLONG' })
})
