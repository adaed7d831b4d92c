/** Uploads that began in this tab, so that the same file goes on where it was after the page was loaded again. */
const KEY = 'svc.uploads'
/** The server deletes older ones. */
const STORED_MAX = 200

export type UploadedFile = Pick<File, 'name' | 'size' | 'lastModified'>
/** An upload of this tab that did not finish. */
export interface StoredUpload { readonly file: UploadedFile, readonly platform: string }

const nameOf = ({ name, size, lastModified }: UploadedFile, platform: string) =>
  JSON.stringify([name, size, lastModified, platform])
const readName = (text: string): StoredUpload => {
  const [name, size, lastModified, platform] = JSON.parse(text) as [string, number, number, string]
  return { file: { name, size, lastModified }, platform }
}

function readAll (): [string, string][] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '[]')
    return Array.isArray(stored) ? stored as [string, string][] : []
  } catch {
    return []
  }
}

function storeAll (entries: [string, string][]): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(entries.slice(-STORED_MAX)))
  } catch {
    // Without storage an upload begins again after the page was loaded again.
  }
}

/** Lists the uploads that did not finish, besides those of some files. */
export function listInterrupted (
  running: readonly { file: UploadedFile, platform: string | undefined }[]
): StoredUpload[] {
  const names = new Set(running.map(({ file, platform = '' }) => nameOf(file, platform)))
  return readAll().flatMap(([name]) => names.has(name) ? [] : [readName(name)])
}

/** Returns the id of the upload of a file that began before; null without one. */
export const findUpload = (file: UploadedFile, platform: string): string | null =>
  new Map(readAll()).get(nameOf(file, platform)) ?? null

/** Forgets all uploads of this tab. */
export function forgetUploads (): void { storeAll([]) }

export function storeUpload (file: UploadedFile, platform: string, id: string | null): void {
  const others = readAll().filter(([name]) => name !== nameOf(file, platform))
  storeAll(id === null ? others : [...others, [nameOf(file, platform), id]])
}
