import { effect, signal, untracked } from '@preact/signals'
import { api, call } from '../../api/client.ts'
import { Failure, isCancelled, toFailure } from '../../api/failure.ts'
import type { Platform } from '../../api/platforms.ts'
import { cache } from '../../api/resource.ts'
import { accountOf } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { tellFailure } from '../../ui/toast.tsx'
import { cancelUpload, isReadable, sendFile } from './send-file.ts'
import { type UploadedFile, forgetUploads } from './upload-memory.ts'

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
    const failure = toFailure(err)
    // The session ended: the upload goes on after the next sign-in.
    if (failure.status === 401) change(id, { state: 'queued' })
    else if (!isCancelled(err)) change(id, { state: 'failed', failure })
  }
  controllers.delete(id)
}

/** Sends one file after the other, because a home network gains nothing from several at once. */
async function run (): Promise<void> {
  if (isRunning) return
  isRunning = true
  for (let next = findQueued(); next !== undefined && accountOf() !== null; next = findQueued()) {
    await send(next)
    // A session that ended would refuse it again.
    if (findQueued()?.id === next.id) break
  }
  isRunning = false
}
const findQueued = (): Upload | undefined => uploads.value.find(({ state }) => state === 'queued')

/** Finds the reason why a file cannot be sent; null for one that can. */
async function findProblem (file: File): Promise<Failure | null> {
  const { upload } = texts()
  if (file.size === 0) return new Failure(0, upload.empty)
  return await isReadable(file) ? null : new Failure(0, upload.unreadable)
}

const isSame = (file: UploadedFile, { name, size, lastModified }: UploadedFile): boolean =>
  file.name === name && file.size === size && file.lastModified === lastModified

/** Adds files, besides those that are sent already. Those without a platform wait until a person chooses one. */
export async function addFiles (files: readonly File[], platformOf: (file: File) => Platform | null): Promise<void> {
  const problems = await Promise.all(files.map(findProblem))
  const added = files.flatMap((file, index): Upload[] => {
    const known = uploads.value.find((one) => one.state !== 'done' && isSame(one.file, file))
    if (known !== undefined && known.state !== 'failed') return []
    if (known !== undefined) uploads.value = uploads.value.filter(({ id }) => id !== known.id)
    const [platform, failure] = [known?.platform ?? platformOf(file), problems[index] ?? null]
    const state = failure !== null ? 'failed' : platform === null ? 'choose' : 'queued'
    return [{ id: ++lastId, file, platform, state, sent: 0, failure }]
  })
  uploads.value = [...uploads.value, ...added]
  void run()
}

export function choosePlatform (ids: readonly number[], platform: Platform): void {
  for (const id of ids) change(id, { platform, state: 'queued' })
  void run()
}

/** Sends a file again, or asks for its platform first. */
export function retry ({ id, platform }: Upload): void {
  change(id, { state: platform === null ? 'choose' : 'queued', failure: null })
  void run()
}

/** Cancels an upload, or forgets a finished one. */
export function removeUpload ({ id, file, platform, state }: Upload): void {
  controllers.get(id)?.abort()
  uploads.value = uploads.value.filter((one) => one.id !== id)
  if (platform !== null && state !== 'done') cancelUpload(file, platform.fs_slug).catch(tellFailure)
}

/** The account whose files these are. */
let owner: number | null = null

/** Forgets all uploads, because another account signed in. */
function clear (): void {
  for (const controller of controllers.values()) controller.abort()
  uploads.value = []
  forgetUploads()
}

effect(() => {
  const account = accountOf()
  if (account === null) return
  untracked(() => {
    if (owner !== null && owner !== account.id) clear()
    owner = account.id
    void run()
  })
})

/** The browser asks before it closes the page, because it cannot read the files again. */
addEventListener('beforeunload', (event) => {
  if (uploads.value.some(({ state }) => !['choose', 'done', 'failed'].includes(state))) event.preventDefault()
})
