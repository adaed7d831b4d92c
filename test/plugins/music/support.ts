/** Audio files of a few hundred bytes, built from the specifications of their formats. */

export interface Picture { type: string, content: Buffer }
/** Tags by their names in Vorbis comments. */
export type Tags = Partial<Record<'title' | 'artist' | 'album' | 'genre' | 'date' | 'track' | 'disc', string>>

function uint32 (value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function uint32le (value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** Creates an MP3 with an ID3v2.3 tag of these frames. https://id3.org/id3v2.3.0 */
export function makeMp3 (texts: Record<string, string>, picture?: Picture): Buffer {
  const frame = (id: string, content: Buffer) => Buffer.concat([Buffer.from(id, 'latin1'), uint32(content.length), Buffer.alloc(2), content])
  const frames = Buffer.concat([
    ...Object.entries(texts).map(([id, text]) => frame(id, Buffer.from(`\0${text}`, 'latin1'))),
    ...(picture === undefined ? [] : [frame('APIC', Buffer.concat([Buffer.from(`\0${picture.type}\0\x03\0`, 'latin1'), picture.content]))])
  ])
  const size = frames.length
  const head = Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, size >> 21 & 127, size >> 14 & 127, size >> 7 & 127, size & 127])
  const sound = Buffer.alloc(417)
  sound.set([0xff, 0xfb, 0x90, 0x00])
  return Buffer.concat([head, frames, ...Array.from({ length: 40 }, () => sound)])
}

const VORBIS_NAMES: Record<string, string> = { track: 'TRACKNUMBER', disc: 'DISCNUMBER' }

/** Creates a FLAC of ten seconds without audio frames. https://www.rfc-editor.org/rfc/rfc9639 */
export function makeFlac (tags: Tags, picture?: Picture): Buffer {
  const block = (type: number, content: Buffer, isLast = false) =>
    Buffer.concat([Buffer.from([type | (isLast ? 0x80 : 0)]), uint32(content.length).subarray(1), content])
  const info = Buffer.alloc(34)
  info.writeUInt16BE(4_096, 0)
  info.writeUInt16BE(4_096, 2)
  // 20 bits of sample rate (44,100), 3 of channels (two), 5 of bits per sample (16), then 36 of the number of samples.
  info.writeBigUInt64BE((44_100n << 44n) | (1n << 41n) | (15n << 36n) | 441_000n, 10)
  const sized = (text: string) => Buffer.concat([uint32le(Buffer.byteLength(text)), Buffer.from(text)])
  const comments = Object.entries(tags).map(([name, value]) => sized(`${VORBIS_NAMES[name] ?? name.toUpperCase()}=${String(value)}`))
  const vorbis = Buffer.concat([sized('test'), uint32le(comments.length), ...comments])
  const pictured = picture === undefined
    ? []
    : [block(6, Buffer.concat([uint32(3), uint32(picture.type.length), Buffer.from(picture.type), Buffer.alloc(20),
        uint32(picture.content.length), picture.content]))]
  return Buffer.concat([Buffer.from('fLaC'), block(0, info), ...pictured, block(4, vorbis, true), Buffer.alloc(64)])
}

/** Creates an MP4 with iTunes tags and no sound. */
export function makeM4a ({ title, artist, album, genre, date, track, disc }: Tags): Buffer {
  const atom = (name: string, ...content: Buffer[]) => {
    const body = Buffer.concat(content)
    return Buffer.concat([uint32(body.length + 8), Buffer.from(name, 'latin1'), body])
  }
  const data = (type: number, content: Buffer) => atom('data', uint32(type), Buffer.alloc(4), content)
  const text = (name: string, value: string | undefined) =>
    value === undefined ? [] : [atom(name, data(1, Buffer.from(value)))]
  const numbers = (name: string, value: string | undefined) => value === undefined
    ? []
    : [atom(name, data(0, Buffer.from([0, 0, 0, Number.parseInt(value, 10), 0, Number(value.split('/')[1] ?? 0), 0, 0])))]
  const list = atom('ilst', ...text('\xa9nam', title), ...text('\xa9ART', artist), ...text('\xa9alb', album), ...text('\xa9gen', genre),
    ...text('\xa9day', date), ...numbers('trkn', track), ...numbers('disk', disc))
  const handler = atom('hdlr', Buffer.concat([Buffer.alloc(8), Buffer.from('mdirappl'), Buffer.alloc(10)]))
  const header = Buffer.alloc(100)
  header.writeUInt32BE(1_000, 12)
  header.writeUInt32BE(10_000, 16)
  return Buffer.concat([
    atom('ftyp', Buffer.from('M4A \0\0\0\0M4A mp42', 'latin1')),
    atom('moov', atom('mvhd', header), atom('udta', atom('meta', Buffer.alloc(4), handler, list)))
  ])
}
