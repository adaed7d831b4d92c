import { existsSync, statSync } from 'node:fs'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { WEB_FLAGS } from '../../core/node-flags.ts'
import { stripCode, strippedFlags } from '../../core/loader/packages/strip-types.ts'

const execute = promisify(execFile)

t.test('processes use the stripped code, which is renewed only after a change', async (t) => {
  // The module that Node loads when it removes types itself.
  const look = `await import(${JSON.stringify(pathToFileURL(join(SERVER_DIR, 'core', 'errors.ts')).href)})
    console.log(process.moduleLoadList.some((name) => name.includes('amaro')))`
  const thread = "import { Worker } from 'node:worker_threads'; new Worker(new URL('look.mjs', import.meta.url))"
  const folder = t.testdir({
    'look.mjs': look, 'thread.mjs': thread, fresh: {}, data: { run: { stripped: { complete: 'of other code', old: '' } } }
  })
  const dataDir = join(folder, 'data')
  const stripped = join(dataDir, 'run', 'stripped')
  const run = async (script: string, dir: string) => {
    const args = [...WEB_FLAGS, ...strippedFlags(dir), join(folder, script)]
    return (await execute(process.execPath, args, { env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' } })).stdout
  }
  await stripCode(dataDir)
  t.notOk(existsSync(join(stripped, 'old')))
  const { mtimeMs } = statSync(join(stripped, 'complete'))
  await stripCode(dataDir)
  t.equal(statSync(join(stripped, 'complete')).mtimeMs, mtimeMs)
  t.equal(await run('look.mjs', dataDir), 'false\n')
  t.equal(await run('thread.mjs', dataDir), 'false\n', 'in threads too')
  t.equal(await run('look.mjs', join(folder, 'fresh')), 'true\n')
})
