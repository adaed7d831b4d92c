/** A kind of file that can be added to a ROM's folder. */
export interface FileKind {
  /** The folder inside that of the ROM. */
  folder: string
  category: 'manual' | 'screenshot' | 'soundtrack'
  extensions: readonly string[]
  missing: string
}

const IMAGES = ['png', 'jpg', 'jpeg', 'webp', 'gif', 'tiff', 'tif', 'bmp', 'avif']
const AUDIO = ['mp3', 'ogg', 'oga', 'opus', 'm4a', 'aac', 'wav', 'flac']
const DOCUMENTS = ['pdf', 'md']

export const MANUAL: FileKind =
  { folder: 'manual', category: 'manual', extensions: DOCUMENTS, missing: 'Manual file not found' }
export const SCREENSHOT: FileKind =
  { folder: 'screenshots', category: 'screenshot', extensions: IMAGES, missing: 'Screenshot file not found' }
export const SOUNDTRACK: FileKind =
  { folder: 'soundtrack', category: 'soundtrack', extensions: AUDIO, missing: 'Soundtrack file not found' }
