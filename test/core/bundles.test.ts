import { execFile } from 'node:child_process'
import { cp, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { BUNDLED, findBundles, nameBundles } from '../../core/loader/packages/bundles.js'
import { strippedFlags } from '../../core/loader/packages/strip-types.ts'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { USED_DATA_DIR } from '../e2e/server.ts'

const STRIPPED = join(USED_DATA_DIR, 'run', 'stripped')
const exportsOf = async (url: string) => Object.keys(await import(url) as object).sort()

/** Registers a format by one bundle and checks it by another, which must share the module with the formats. */
const CHECK = `import { FormatRegistry, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
FormatRegistry.Set('even', (text) => text.length % 2 === 0)
const isValid = (text) => Value.Check(Type.String({ format: 'even' }), text)
console.log(JSON.stringify([import.meta.resolve('@sinclair/typebox/value'), isValid('ab'), isValid('abc')]))`

t.test('each bundle exports what its package exports', async (t) => {
  const bundles = findBundles(STRIPPED)
  t.equal(bundles.size, BUNDLED.length)
  for (const [module, bundle] of bundles) t.strictSame(await exportsOf(bundle), await exportsOf(module), module)
})

t.test('a process loads bundles, which share their modules', async (t) => {
  const { stdout } = await promisify(execFile)(
    process.execPath, [...strippedFlags(USED_DATA_DIR), '--input-type=module', '-e', CHECK], { cwd: SERVER_DIR })
  t.match(JSON.parse(stdout), [/packages-\w+\/@sinclair\/typebox\/value\.mjs$/, true, false])
})

t.test('a folder without bundles, or with a damaged one, replaces no module', async (t) => {
  const folder = t.testdir()
  t.equal(findBundles(folder).size, 0)
  const bundles = join(folder, nameBundles())
  await cp(join(STRIPPED, nameBundles()), bundles, { recursive: true })
  t.equal(findBundles(folder).size, BUNDLED.length)
  await truncate(join(bundles, 'kysely.mjs'), 10)
  t.equal(findBundles(folder).size, 0)
})
