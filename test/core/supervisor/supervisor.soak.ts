import { existsSync, readFileSync, statSync } from 'node:fs'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { SERVER_DIR } from '../../../core/server-dir.ts'
import { WEB_FLAGS } from '../../../core/process/node-flags.ts'
import { stripCode, strippedFlags } from '../../../core/loader/packages/strip-types.ts'
import { runSvc, settings, waitUntilListening } from '../../e2e/server.ts'
import { makeFolder } from '../../folder.ts'

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

t.test('the first start continues without the compiler of Node', {
  skip: process.platform !== 'linux' && 'only Linux shows the arguments of other processes'
}, async (t) => {
  const dataDir = join(makeFolder(t), 'data')
  const server = runSvc(t, ['start'], settings(dataDir, {
    WEB_SERVER_CONCURRENCY: '1', SVC_ADMIN_USERNAME: 'first', SVC_ADMIN_PASSWORD: 'a password'
  }))
  const { url } = await waitUntilListening(server, dataDir)
  t.match(readFileSync(`/proc/${server.pid}/cmdline`, 'utf8'), 'strip-hook.js')
  const authorization = `Basic ${Buffer.from('first:a password').toString('base64')}`
  t.equal((await fetch(`${url}/api/users/me`, { headers: { authorization } })).status, 200, 'the settings stay')
})
