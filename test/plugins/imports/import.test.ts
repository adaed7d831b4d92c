import { join } from 'node:path'
import t, { type Test } from 'tap'
import { until } from '../../until.ts'
import { type TestApp, shareTestApp } from '../../support.ts'
import { createRommDatabase, writeRommFiles } from './fixtures/romm-postgres.ts'
import { ROMM_DEVICE, ROMM_PASSWORD, ROMM_TOKEN, ROWS_5 } from './fixtures/romm-rows.ts'
import { ROMM_5 } from './fixtures/romm-schema.ts'
import type { ImportReport } from '../../../plugins/imports/schemas.ts'

const fresh = shareTestApp(t, { worker: true, env: { SVC_TOKEN_PREFIXES: 'svc_,rmm_' } })

const LIBRARY = {
  roms: {
    snes: { 'Chrono (USA).sfc': 'a cartridge' },
    psx: { 'Discs of Time': { 'disc 1.chd': 'a disc', soundtrack: { '01 Intro.mp3': 'music' } } }
  }
}

/** Runs an import by its task. @returns its report */
async function importRomm ({ app }: TestApp, settings: Record<string, string>, isDry = false): Promise<ImportReport> {
  const task = await app.imports.request({ importer: 'romm', settings, dry_run: isDry, user_id: null }, null)
  await until(async () => ['finished', 'failed', 'stopped'].includes((await app.tasks.get(app.db, task.id)).status), 'the import ends')
  return (await app.imports.get(app.db, task.id)).report
}

async function createRomm (t: Test): Promise<Record<string, string>> {
  const url = await createRommDatabase(t, ROMM_5, ROWS_5)
  const basePath = join(t.testdirName, 'romm')
  await writeRommFiles(basePath)
  return { database_url: url, base_path: basePath }
}

t.test('an import from RomM brings accounts, files and marks', async (t) => {
  const test = await fresh(t, { library: LIBRARY, withoutAdmin: true })
  const report = await importRomm(test, await createRomm(t))
  console.log(JSON.stringify(report, null, 1))
  t.equal(report.status, 'finished')
  void ROMM_DEVICE, ROMM_PASSWORD, ROMM_TOKEN
})
