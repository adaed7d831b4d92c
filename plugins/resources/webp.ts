import { glob } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { withLocalFile } from '../../core/store/move-object.ts'
import { createFastWriter } from '../../core/store/store-writer.ts'
import type { Store } from '../../core/store/store.ts'
import { tasksConfig } from '../tasks/config.ts'
import { defineTask } from '../tasks/define-task.ts'
import type { TaskDefinition, TaskRun } from '../tasks/definitions.ts'
import { openImage } from './image.ts'
import { RESOURCES, UNFINISHED, resourceKey, resourcesDirOf } from './resource-key.ts'

/** Covers of ROMs and collections, large and small. GIFs are skipped, because they may be animated. */
const COVERS = ['roms/*/*/cover/*.{png,jpg,jpeg}', 'collections/*/cover/*.{png,jpg,jpeg}']
const COVER_KEY = /^resources\/(?:roms\/[^/]+|collections)\/[^/]+\/cover\/[^/.][^/]*\.(?:png|jpg|jpeg)$/
const QUALITY = 90
/** Enough for tens of thousands of covers. */
const TIMEOUT_SECONDS = 6 * 3_600
const REPORT_EVERY_MS = 1_000

const webpOf = (key: string) => posix.join(posix.dirname(key), `${posix.basename(key, posix.extname(key))}.webp`)

/** Yields the keys of all covers. */
async function * listCovers (store: Store): AsyncGenerator<string> {
  if (store.folder !== null) {
    // Reads no folders but those of covers.
    for await (const path of glob(COVERS, { cwd: join(store.folder, RESOURCES) })) yield resourceKey(path)
  } else for await (const { key } of store.list(RESOURCES)) if (COVER_KEY.test(key)) yield key
}

/** True if the cover has a WebP copy that is not older than itself, or was deleted. */
async function isDone (store: Store, key: string): Promise<boolean> {
  const copy = await store.stat(webpOf(key))
  if (copy === null) return false
  const cover = await store.stat(key)
  return cover === null || copy.modifiedAt >= cover.modifiedAt
}

/** @param dir where a cover of a bucket is copied to */
async function convert (store: Store, key: string, dir: string): Promise<void> {
  const object = await store.get(key)
  if (object === null) return
  try {
    const content = await withLocalFile(store, object, dir, async (path) =>
      await (await openImage(path)).webp({ quality: QUALITY }).toBuffer())
    if (store.folder !== null) await requireFreeSpace(store.folder, content.length)
    await createFastWriter(store).put(content, webpOf(key))
  } finally {
    await object.close()
  }
}

/** Writes a WebP copy beside each stored cover, for clients that request this format. */
export function defineWebp (app: FastifyInstance, config: Config): TaskDefinition {
  const { store } = app
  const dir = join(resourcesDirOf(config), UNFINISHED)

  async function run ({ signal, report }: TaskRun): Promise<void> {
    const stats = { processed: 0, errors: 0, total: 0 }
    for await (const _cover of listCovers(store)) stats.total++
    let reportedAt = -Infinity
    for await (const cover of listCovers(store)) {
      signal.throwIfAborted()
      try {
        if (!await isDone(store, cover)) await convert(store, cover, dir)
      } catch (err) {
        // A full disk and a store that is away fail every other cover too.
        if (['ENOSPC', 'EDQUOT', 'NO_FREE_SPACE', 'UNAVAILABLE'].includes(errorCode(err))) throw err
        stats.errors++
        app.log.warn({ err, cover }, 'a cover could not be converted to WebP')
      }
      stats.processed++
      if (performance.now() - reportedAt < REPORT_EVERY_MS) continue
      reportedAt = performance.now()
      await report({ conversion_stats: stats })
    }
    await report({ conversion_stats: stats })
  }

  return defineTask({
    name: 'convert_images_to_webp',
    title: 'Convert images to WebP',
    description: 'Writes a WebP copy beside each stored cover; skips covers that have one',
    type: 'conversion',
    enabled: tasksConfig.of(config).convert_images_to_webp,
    cron_string: tasksConfig.of(config).convert_images_to_webp_cron,
    timeoutSeconds: TIMEOUT_SECONDS,
    run
  })
}
