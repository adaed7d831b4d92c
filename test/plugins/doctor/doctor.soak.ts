import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Finding } from '../../../plugins/doctor/finding.ts'
import { createUsedDataDir, runSvc, settings } from '../../e2e/server.ts'
import { makeFolder } from '../../folder.ts'
import { READABLE } from './doctor-support.ts'

t.test('the command prints lines or JSON, changes nothing, and exits with 1 on errors', async (t) => {
  const folder = makeFolder(t, { library: READABLE })
  const dataDir = join(folder, 'data')
  const env = settings(dataDir, { SVC_LIBRARY_DIR: join(folder, 'library') })
  const well = await runSvc(t, ['doctor', '--json'], env).ended
  t.equal(well.code, 0, well.output)
  const findings = well.output.trim().split('\n').map((line) => JSON.parse(line) as Finding)
  t.ok(findings.every(({ status, remedy }) => (status === 'ok') === (remedy === null)))
  t.notOk(existsSync(dataDir))
  createUsedDataDir(dataDir)
  const wrong = await runSvc(t, ['doctor'], { ...env, SVC_PORT: 'many' }).ended
  t.equal(wrong.code, 1)
  t.match(wrong.output, /^fail +settings +SVC_PORT: "many" is not a whole number.*\n +→ .*\n\n1 failed/s)
})
