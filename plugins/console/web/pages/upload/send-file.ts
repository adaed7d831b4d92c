import { api, call } from '../../api/client.ts'
import { isReachable, probe } from '../../api/connection.ts'
import { Failure, isProxyFailure } from '../../api/failure.ts'
import { texts } from '../../i18n/language.ts'
import { countChunks, listMissing, toHeader } from './chunks.ts'
import { type UploadedFile, findUpload, storeUpload } from './upload-memory.ts'

interface Target { platformId: number, platform: string }
interface Watch {
  signal: AbortSignal
  onSent: (bytes: number) => void
  /** Called when the connection was lost, and when it came back. */
  onWaiting: (isWaiting: boolean) => void
}

/** Waits until the server answers again. */
function waitForServer (signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (isReachable.value) return resolve()
    const stop = isReachable.subscribe((reached) => {
      if (!reached) return
      queueMicrotask(() => { stop() })
      resolve()
    })
    signal.addEventListener('abort', () => {
      stop()
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
    }, { once: true })
  })
}

const isUnanswered = (err: unknown): err is Failure =>
  err instanceof Failure && (err.status === 0 || isProxyFailure(err.status))

/** True if a request may succeed later. A server that answers a probe means its 503, as for a missing disk. */
async function isLost (err: unknown): Promise<boolean> {
  if (!isUnanswered(err)) return false
  await probe()
  return err.status !== 503 || !isReachable.value
}

/** Attempts without any progress between them. */
const ATTEMPTS_MAX = 20

/** True if the browser can still read a file; it cannot after the file was moved, changed or deleted. */
export const isReadable = (file: File): Promise<boolean> =>
  file.slice(0, 1).arrayBuffer().then(() => true, () => false)

interface Begun { id: string, received: number[] }

/** Begins an upload, or continues one of this tab. @returns its id and the chunks that the server has */
async function begin (file: File, { platform, platformId }: Target, signal: AbortSignal): Promise<Begun> {
  const former = findUpload(file, platform)
  if (former !== null) {
    try {
      const params = { path: { upload_id: former } }
      const { received_chunks: received } = await call(api.GET('/api/roms/upload/{upload_id}', { params, signal }))
      return { id: former, received }
    } catch (err) {
      if (isUnanswered(err)) throw err
      storeUpload(file, platform, null)
    }
  }
  const { upload_id: id } = await call(api.POST('/api/roms/upload/start', {
    params: {
      header: {
        'x-upload-platform': platformId,
        'x-upload-filename': toHeader(file.name),
        'x-upload-total-size': file.size,
        'x-upload-total-chunks': countChunks(file.size)
      }
    },
    signal
  }))
  storeUpload(file, platform, id)
  return { id, received: [] }
}

/** @param onComplete called before the request that completes the upload, with its id */
async function sendOnce (
  file: File, target: Target, { signal, onSent, onComplete }: Watch & { onComplete: (id: string) => void }
): Promise<void> {
  // Browsers report a file that they cannot read as a lost connection.
  if (!await isReadable(file)) throw new Failure(400, texts().upload.unreadable)
  const { id, received } = await begin(file, target, signal)
  const path = { upload_id: id }
  const missing = listMissing(file.size, received)
  let sent = file.size - missing.reduce((sum, { start, end }) => sum + end - start, 0)
  onSent(sent)
  for (const { index, start, end } of missing) {
    const chunk = file.slice(start, end)
    await call(api.PUT('/api/roms/upload/{upload_id}', {
      params: { path, header: { 'x-chunk-index': index } },
      body: '',
      bodySerializer: () => chunk,
      headers: { 'content-type': 'application/octet-stream' },
      signal
    }))
    sent += end - start
    onSent(sent)
  }
  onComplete(id)
  await complete(id, signal)
}

/** Completes an upload whose chunks the server has. */
async function complete (id: string, signal: AbortSignal): Promise<void> {
  await call(api.POST('/api/roms/upload/{upload_id}/complete', { params: { path: { upload_id: id } }, signal }))
}

/** Completes an upload again whose response was lost. The server does not know an upload that it completed before. */
async function completeAgain (id: string, signal: AbortSignal): Promise<void> {
  try {
    await complete(id, signal)
  } catch (err) {
    if (!(err instanceof Failure) || err.status !== 404) throw err
  }
}

/** Sends a file in chunks. After a lost connection it waits for the server, and sends only the missing chunks. */
export async function sendFile (file: File, target: Target, watch: Watch): Promise<void> {
  let attempts = 0
  let farthest = 0
  let completing: string | null = null
  const onComplete = (id: string) => { completing = id }
  const onSent = (bytes: number) => {
    if (bytes > farthest) attempts = 0
    farthest = Math.max(farthest, bytes)
    watch.onSent(bytes)
  }
  while (true) {
    try {
      if (completing === null) await sendOnce(file, target, { ...watch, onSent, onComplete })
      else await completeAgain(completing, watch.signal)
      storeUpload(file, target.platform, null)
      return
    } catch (err) {
      if (!await isLost(err) || ++attempts >= ATTEMPTS_MAX) throw err
      watch.onWaiting(true)
      await waitForServer(watch.signal)
      watch.onWaiting(false)
    }
  }
}

/** Deletes what the server has of an upload. */
export async function cancelUpload (file: UploadedFile, platform: string): Promise<void> {
  const id = findUpload(file, platform)
  storeUpload(file, platform, null)
  if (id !== null) await call(api.POST('/api/roms/upload/{upload_id}/cancel', { params: { path: { upload_id: id } } }))
}
