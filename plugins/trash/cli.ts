import { withApp } from '../../core/cli/app.ts'
import type { Features } from '../../core/feature.ts'
import { LIMIT_MAX } from '../../core/typebox.ts'
import type { BulkResult } from '../firmware/schemas.ts'
import { restoreItems } from './restore-items.ts'
import type { TrashItemView } from './schemas.ts'

export interface ListOptions { json?: boolean }

const write = (text: string) => { process.stdout.write(text) }

function describe (item: TrashItemView): string {
  const { id, full_path: path, file_size_bytes: size, deleted_at: at, deleted_by: by, problem } = item
  const when = `deleted ${at.slice(0, 16).replace('T', ' ')}${by === null ? '' : ` by ${by}`}`
  const facts = [`${size} bytes`, when, ...problem === null ? [] : [problem]]
  return `${id}  ${path} (${facts.join(', ')})\n`
}

/** Runs `svc trash list`. */
export async function listTrash (features: Features, options: ListOptions): Promise<void> {
  await withApp(features, (await features.loadConfig()).config, async (app) => {
    for (let offset = 0, total = 1; offset < total; offset += LIMIT_MAX) {
      const page = await app.trash.list({ db: app.db, caller: null }, { limit: LIMIT_MAX, offset })
      total = page.total
      for (const item of page.items) write(options.json === true ? `${JSON.stringify(item)}\n` : describe(item))
      if (total === 0 && options.json !== true) write('The trash is empty.\n')
    }
  })
}

/** Prints the result. @returns the exit code */
function printResult ({ successful_items: count, errors }: BulkResult, words: string): number {
  for (const error of errors) process.stderr.write(`${error}\n`)
  write(`${count} ${words}.\n`)
  return errors.length === 0 ? 0 : 1
}

/** Runs `svc trash restore`. @returns the exit code */
export async function restoreTrash (features: Features, ids: readonly number[]): Promise<number> {
  return await withApp(features, (await features.loadConfig()).config, async (app) => {
    const result = await restoreItems(app, { db: app.db, caller: null }, ids)
    await app.audit.record({ event: 'trash.restored', address: '', details: { by: 'svc trash restore', items: ids.join(', ') } })
    return printResult(result, 'restored')
  })
}

/** Runs `svc trash empty`. @returns the exit code */
export async function emptyTrash (features: Features, ids: readonly number[]): Promise<number> {
  return await withApp(features, (await features.loadConfig()).config, async (app) => {
    const result = await app.trash.empty({ db: app.db, caller: null }, ids.length === 0 ? null : ids)
    await app.audit.record({ event: 'trash.emptied', address: '', details: { by: 'svc trash empty', items: ids.join(', ') || 'all' } })
    return printResult(result, 'deleted permanently')
  })
}
