import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openImage } from '../../resources/image.ts'
import type { Picture } from './protocol.ts'

const COVER_PIXELS = 600
const FORMATS = { jpg: 'jpeg', png: 'png' } as const

/**
 * Stores the picture of a file. The picture is encoded again, so no other data in it reaches a browser.
 *
 * @param stem path in the resources folder, without extension
 * @returns the path with extension; null if the content is not a picture
 */
export async function storeCover (
  { content, extension }: Picture, resourcesDir: string, stem: string
): Promise<string | null> {
  const path = `${stem}.${extension}`
  const target = join(resourcesDir, path)
  const part = join(dirname(target), `.${randomUUID()}.part`)
  try {
    const image = await openImage(content)
    const size = { width: COVER_PIXELS, height: COVER_PIXELS, fit: 'inside', withoutEnlargement: true } as const
    const picture = await image.resize(size).toFormat(FORMATS[extension]).toBuffer()
    await mkdir(dirname(target), { recursive: true })
    await writeFile(part, picture)
    await rename(part, target)
    return path
  } catch {
    // Some files declare a picture that they do not contain.
    await rm(part, { force: true })
    return null
  }
}
