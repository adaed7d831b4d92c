import { deleteAsset, loadContent, replaceAsset, restoreContent, undeleteAsset, uploadAsset } from './asset-calls.ts'
import { type Conflict, chooseFreeName } from './timeline.ts'

/** Keeps the content on the server. @returns a function that undoes it */
export async function keepOriginal ({ copy }: Conflict): Promise<() => Promise<void>> {
  await deleteAsset(copy)
  return async () => {
    await undeleteAsset(copy)
  }
}

/**
 * Keeps the content of the other device. The content on the server becomes a former version.
 *
 * @returns a function that undoes it
 */
export async function keepCopy ({ original, copy }: Conflict): Promise<() => Promise<void>> {
  await replaceAsset(original, await loadContent(copy.download_path))
  await deleteAsset(copy)
  return async () => {
    await restoreContent(original, original.sha1)
    await undeleteAsset(copy)
  }
}

/** Stores the content of the other device as a save of its own, under a name that no other save has. */
export async function keepBoth (
  romId: number,
  { original, copy }: Conflict,
  label: string,
  taken: ReadonlySet<string>
): Promise<void> {
  const [content, picture] = await Promise.all([
    loadContent(copy.download_path),
    copy.picture === null ? undefined : loadContent(copy.picture)
  ])
  const name = chooseFreeName(original.file_name, label, taken)
  await uploadAsset(romId, { kind: copy.kind, name, content, emulator: copy.emulator, ...(picture && { picture }) })
  await deleteAsset(copy)
}
