import type { ImportRecord } from './contract.ts'
import { type ImportContext, toBatch } from './import-kind.ts'
import { readBatches } from './read-records.ts'
import { selectImported } from './rows.ts'
import { createAssetWriter } from './writers/assets.ts'

type AssetRecord = ImportRecord<'asset'>

/** Returns the assets that no earlier import stored. */
async function findOpen (
  { db, services: { source } }: ImportContext, records: readonly AssetRecord[]
): Promise<AssetRecord[]> {
  const open: AssetRecord[] = []
  for (const kind of ['save', 'state', 'screenshot'] as const) {
    const ofKind = records.filter((record) => record.kind === kind)
    const imported = await selectImported(db, source, kind, ofKind.map(({ id }) => id))
    open.push(...ofKind.filter(({ id }) => !imported.has(id)))
  }
  return open
}

/** Imports all assets, each in a transaction of its own, because each has a file. */
export async function importAssets (context: ImportContext): Promise<void> {
  const { importer, report, signal, db, services } = context
  const write = createAssetWriter(importer, services)
  for await (const records of readBatches(importer, 'asset', report, signal)) {
    const open = await findOpen(context, records)
    report.count('asset', 'present', records.length - open.length)
    for (const outcome of await write(toBatch(context, db), open, signal)) {
      const { record } = outcome
      if ('as' in outcome) report.count('asset', outcome.as)
      else report.skip({ kind: 'asset', id: `${record.kind} ${record.id}`, name: record.file.path, reason: outcome.reason })
    }
    await context.onProgress('asset')
  }
}
