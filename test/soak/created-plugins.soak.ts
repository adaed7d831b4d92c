import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { KEY, KINDS, addCreated, createTested, seeListed } from '../core/created-plugin.ts'
import { runSvc, settings } from '../e2e/server.ts'
import { run } from './image/namespace.ts'

t.test('created plugins of every kind pass their tests and are listed, without an edit', async (t) => {
  const folder = t.testdir({})
  const env = settings(join(folder, 'data'), KEY)
  for (const kind of KINDS) {
    await createTested(t, kind, join(folder, kind), env)
    await addCreated(t, kind, join(folder, kind), env)
  }
  await seeListed(t, KINDS, env)
})

t.test('the printed steps run unchanged, and the tests pass a second time', async (t) => {
  // Use a folder outside this repository, because Node would find the packages of the repository from inside.
  const place = mkdtempSync(join(tmpdir(), 'svc-created-'))
  t.teardown(() => { rmSync(place, { recursive: true, force: true }) })
  const env = settings(join(place, 'data'), KEY)
  const created = await runSvc(t, ['plugins', 'create', 'provider', 'tide-table', join(place, 'own')], env).ended
  const steps = created.output.split('\n').filter((line) => line.startsWith('  '))
  t.equal(steps.length, 4)
  const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|TAP|NODE_OPTIONS|SVC_)/i.test(name)))
  const output = await run('sh', ['-c', ['set -e', ...steps, 'npm test'].join('\n')], { cwd: place, env: { ...own, ...KEY } })
  t.match(output, 'svc-provider-tide-table 0.1.0: active')
})
