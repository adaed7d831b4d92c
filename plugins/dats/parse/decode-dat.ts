import { isUtf8 } from 'node:buffer'
import { DatError } from './dat-types.ts'

/** Decodes a DAT piece by piece. A character may be split between two pieces. */
export interface DatDecoder {
  write (bytes: Uint8Array): string
  close (): string
}

const ENCODING = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/
const LINE_FEED = 0x0a
/** Bytes of the longest character in UTF-8. */
const CHARACTER_BYTES = 4

/** Returns the bytes at the end that begin a character in UTF-8 and do not complete it. */
function countIncomplete (bytes: Buffer): number {
  for (let count = 1; count < CHARACTER_BYTES && count <= bytes.length; count++) {
    const byte = bytes[bytes.length - count] ?? 0
    if (byte >= 0xc0) return count < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? count : 0
    if (byte < 0x80) return 0
  }
  return 0
}

/** Decodes UTF-8, and lines that are not UTF-8 as Windows-1252, because older programs for Windows write that. */
function createLineDecoder (): DatDecoder {
  const [utf8, ansi] = [new TextDecoder('utf-8'), new TextDecoder('windows-1252')]
  let rest = Buffer.alloc(0)

  function decode (bytes: Buffer): string {
    if (isUtf8(bytes)) return utf8.decode(bytes)
    let text = ''
    for (let start = 0; start < bytes.length;) {
      const end = bytes.indexOf(LINE_FEED, start) + 1 || bytes.length
      const line = bytes.subarray(start, end)
      text += (isUtf8(line) ? utf8 : ansi).decode(line)
      start = end
    }
    return text
  }

  return {
    write (piece) {
      const bytes = Buffer.concat([rest, piece])
      const end = bytes.length - countIncomplete(bytes)
      rest = bytes.subarray(end)
      return decode(bytes.subarray(0, end))
    },
    close: () => decode(rest)
  }
}

function createNamedDecoder (encoding: string): DatDecoder {
  const decoder = new TextDecoder(encoding)
  return { write: (bytes) => decoder.decode(bytes, { stream: true }), close: () => decoder.decode() }
}

/** Creates the decoder of the encoding that the first bytes show, or an XML declaration names. @throws DatError */
export function createDecoder (head: Uint8Array): DatDecoder {
  const [first, second] = head
  if ((first === 0xff && second === 0xfe) || (first === 0x3c && second === 0)) return createNamedDecoder('utf-16le')
  if ((first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c)) return createNamedDecoder('utf-16be')
  const encoding = ENCODING.exec(Buffer.from(head).toString('latin1').replace(/^ï»¿/, ''))?.[1] ?? 'utf-8'
  // A text whose bytes are not UTF-16 names it wrongly: programs for .NET do so.
  if (/^utf-?(?:8|16)/i.test(encoding)) return createLineDecoder()
  try {
    return createNamedDecoder(encoding)
  } catch (err) {
    throw new DatError(1, `the encoding '${encoding}' is unknown`, 'save the DAT as UTF-8', { cause: err })
  }
}
