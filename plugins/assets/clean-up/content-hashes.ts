import { createHash } from 'node:crypto'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { defineTask } from '../../tasks/define-task.ts'
import type { TaskRun } from '../../tasks/definitions.ts'
import type { StoredObject } from '../../../core/store/store.ts'
import { hashContent, isZip } from '../disk/content-hash.ts'
import { type Files, HEAD_BYTES } from '../asset-files.ts'
import { type HashedSave, hasUnhashedSaves, selectHashedSaves, updateContentHash } from './content-hash-rows.ts'

const PAGE = 500
const TIMEOUT_SECONDS = 6 * 3_600

const ArgumentsSchema = Type.Object({
  missing_only: Type.Optional(Type.Boolean({ description: 'Only saves without a stored hash' }))
}, { additionalProperties: false })

/** Returns the content hash of a file; `''` if it has none. */
async function readContentHash (files: Files, object: StoredObject, signal: AbortSignal): Promise<string> {
  const md5 = createHash('md5')
  let head = Buffer.alloc(0)
  for await (const chunk of object.read(0, object.size) as AsyncIterable<Buffer>) {
    signal.throwIfAborted()
    if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)])
    md5.update(chunk)
  }
  const digest = md5.digest('hex')
  const hash = isZip(head)
    ? await files.withLocal(object, async (path) => await hashContent(path, head, digest))
    : digest
  return hash ?? ''
}

/** Returns the content hash of a file: null if the file does not exist, `''` if it has no hash. */
async function readHash (files: Files, path: string, signal: AbortSignal): Promise<string | null> {
  const object = await files.open(path)
  if (object === null) return null
  try {
    return await readContentHash(files, object, signal)
  } finally {
    await object.close()
  }
}

/** Recomputes the content hashes by which devices compare saves. */
export function createContentHashes (app: FastifyInstance, files: Files) {
  async function recompute (save: HashedSave, signal: AbortSignal): Promise<'updated' | 'unchanged' | 'missing_fs'> {
    const hash = await readHash(files, save.disk_path, signal)
    if (hash === null) return 'missing_fs'
    if (hash === '' || hash === save.content_hash) return 'unchanged'
    await updateContentHash(app.db, save, hash)
    return 'updated'
  }

  async function run ({ payload, signal, report }: TaskRun): Promise<void> {
    const { missing_only: missingOnly = false } = payload as Static<typeof ArgumentsSchema>
    const stats = { saves_scanned: 0, saves_updated: 0, saves_unchanged: 0, saves_missing_fs: 0, errors: 0 }
    for (let after = 0; ;) {
      const saves = await selectHashedSaves(app.db, after, PAGE, missingOnly)
      for (const save of saves) {
        signal.throwIfAborted()
        stats.saves_scanned++
        try {
          stats[`saves_${await recompute(save, signal)}`]++
        } catch (err) {
          signal.throwIfAborted()
          stats.errors++
          app.log.warn({ err, asset: save.id }, 'the content hash of a save could not be calculated')
        }
      }
      await report({ saves: stats })
      const last = saves.at(-1)
      if (last === undefined) return
      after = last.id
    }
  }

  const definition = defineTask({
    name: 'recompute_save_content_hashes',
    title: 'Recalculate content hashes of saves',
    description: 'Recalculates the hashes by which devices compare saves, if the stored hash is missing or wrong',
    type: 'cleanup',
    timeoutSeconds: TIMEOUT_SECONDS,
    arguments: ArgumentsSchema,
    run
  })

  return {
    definition,
    /** Starts the task for saves without a hash, such as after an upgrade from a release that stored none. */
    startWithWorker (): void {
      app.addHook('onReady', async () => {
        if (app.rest.isWoken || !await hasUnhashedSaves(app.db)) return
        await app.tasks.startAutomatically(definition.name, { missing_only: true })
      })
    }
  }
}
