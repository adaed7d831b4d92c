import { glob, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { errorCode } from '../../core/files/fs-error.ts'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { tasksConfig } from '../tasks/config.ts'
import { defineTask } from '../tasks/define-task.ts'
import type { TaskDefinition, TaskRun } from '../tasks/definitions.ts'
import { openImage } from './image.ts'

/** Covers of ROMs and collections, large and small. GIFs are skipped, because they may be animated. */
const COVERS = ['roms/*/*/cover/*.{png,jpg,jpeg}', 'collections/*/cover/*.{png,jpg,jpeg}']
const QUALITY = 90
/** Enough for tens of thousands of covers. */
const TIMEOUT_SECONDS = 6 * 3_600
const REPORT_EVERY_MS = 1_000

const webpOf = (path: string) => join(dirname(path), `${basename(path, extname(path))}.webp`)

/** True if the cover has a WebP copy that is not older than itself. */
async function isDone (path: string): Promise<boolean> {
  try {
    return (await stat(webpOf(path))).mtimeMs >= (await stat(path)).mtimeMs
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return false
    throw err
  }
}

/** Staging prevents a half-written file under the name that clients request. */
async function convert (path: string): Promise<void> {
  const content = await (await openImage(path)).webp({ quality: QUALITY }).toBuffer()
  await requireFreeSpace(dirname(path), content.length)
  const part = join(dirname(path), `.${randomUUID()}.tmp`)
  try {
    const handle = await open(part, 'wx')
    try {
      await handle.writeFile(content)
    } finally {
      await handle.close()
    }
    await rename(part, webpOf(path))
  } catch (err) {
    await rm(part, { force: true })
    throw err
  }
}

/** Writes a WebP copy beside each stored cover, for clients that request this format. */
export function defineWebp (app: FastifyInstance, config: Config): TaskDefinition {
  const folder = join(config.data_dir, 'resources')

  async function run ({ signal, report }: TaskRun): Promise<void> {
    const stats = { processed: 0, errors: 0, total: 0 }
    for await (const _cover of glob(COVERS, { cwd: folder })) stats.total++
    let reportedAt = -Infinity
    for await (const cover of glob(COVERS, { cwd: folder })) {
      signal.throwIfAborted()
      const path = join(folder, cover)
      try {
        if (!await isDone(path)) await convert(path)
      } catch (err) {
        // A full disk fails every other cover too.
        if (['ENOSPC', 'EDQUOT', 'NO_FREE_SPACE'].includes(errorCode(err))) throw err
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
