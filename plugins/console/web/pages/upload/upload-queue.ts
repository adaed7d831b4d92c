import { signal } from '@preact/signals'
import { api, call } from '../../api/client.ts'
import { type Failure, isCancelled, toFailure } from '../../api/failure.ts'
import type { Platform } from '../../api/platforms.ts'
import { cache } from '../../api/resource.ts'
import { tellFailure } from '../../ui/toast.tsx'
import { cancelUpload, sendFile } from './send-file.ts'

export interface Upload {
  readonly id: number
  readonly file: File
  /** Null until a person chooses it. */
  readonly platform: Platform | null
  readonly state: 'choose' | 'queued' | 'sending' | 'waiting' | 'finishing' | 'done' | 'failed'
  readonly sent: number
  readonly failure: Failure | null
}

/** The uploads of this tab. They go on while people look at other pages. */
export const uploads = signal<readonly Upload[]>([])

let lastId = 0
let isRunning = false
const controllers = new Map<number, AbortController>()

const change = (id: number, fields: Partial<Upload>): void => {
  uploads.value = uploads.value.map((one) => one.id === id ? { ...one, ...fields } : one)
}

/** Returns the stored platform, which is created with its folder if it has no games yet. */
async function storePlatform (platform: Platform): Promise<Platform> {
  return platform.id > 0 ? platform : await call(api.POST('/api/platforms', { body: { fs_slug: platform.fs_slug } }))
}

async function send ({ id, file, platform }: Upload): Promise<void> {
  if (platform === null) return
  const controller = new AbortController()
  controllers.set(id, controller)
  change(id, { state: 'sending', failure: null })
  try {
    const stored = await storePlatform(platform)
    await sendFile(file, { platformId: stored.id, platform: stored.fs_slug }, {
      signal: controller.signal,
      onSent: (sent) => { change(id, { sent, state: sent === file.size ? 'finishing' : 'sending' }) },
      onWaiting: (isWaiting) => { change(id, { state: isWaiting ? 'waiting' : 'sending' }) }
    })
    change(id, { state: 'done' })
    cache.invalidateAll()
  } catch (err) {
    if (!isCancelled(err)) change(id, { state: 'failed', failure: toFailure(err) })
  }
  controllers.delete(id)
}

/** Sends one file after the other, because a home network gains nothing from several at once. */
async function run (): Promise<void> {
  if (isRunning) return
  isRunning = true
  for (let next = findQueued(); next !== undefined; next = findQueued()) await send(next)
  isRunning = false
}
const findQueued = (): Upload | undefined => uploads.value.find(({ state }) => state === 'queued')

/** Adds files. Those without a platform wait until a person chooses one. */
export function addFiles (files: readonly File[], platformOf: (file: File) => Platform | null): void {
  const added = files.map((file): Upload => {
    const platform = platformOf(file)
    return { id: ++lastId, file, platform, state: platform === null ? 'choose' : 'queued', sent: 0, failure: null }
  })
  uploads.value = [...uploads.value, ...added]
  void run()
}

export function choosePlatform (ids: readonly number[], platform: Platform): void {
  for (const id of ids) change(id, { platform, state: 'queued' })
  void run()
}

export function retry (id: number): void {
  change(id, { state: 'queued', failure: null })
  void run()
}

/** Cancels an upload, or forgets a finished one. */
export function removeUpload ({ id, file, platform, state }: Upload): void {
  controllers.get(id)?.abort()
  uploads.value = uploads.value.filter((one) => one.id !== id)
  if (platform !== null && state !== 'done') cancelUpload(file, platform.fs_slug).catch(tellFailure)
}
