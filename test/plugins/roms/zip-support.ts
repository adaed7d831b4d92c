import { buffer } from 'node:stream/consumers'
import yauzl from 'yauzl'
import type { Zip } from '../../../plugins/roms/downloads/zip.ts'

export const whole = (zip: Zip) => buffer(zip.read(0, zip.size))

export function openZip (bytes: Buffer): Promise<yauzl.ZipFile> {
  return new Promise((resolve, reject) => {
    yauzl.fromBuffer(bytes, { lazyEntries: true, validateEntrySizes: true }, (err, zip) => {
      if (err === null) resolve(zip)
      else reject(err)
    })
  })
}

/** Reads a zip: entry name → content, in the order of the zip. */
export async function readZip (bytes: Buffer): Promise<Map<string, string>> {
  const zip = await openZip(bytes)
  return await new Promise((resolve, reject) => {
    const entries = new Map<string, string>()
    zip.on('error', reject)
    zip.on('end', () => { resolve(entries) })
    zip.on('entry', (entry: yauzl.Entry) => {
      zip.openReadStream(entry, (err, stream) => {
        if (err !== null) return reject(err)
        buffer(stream).then((content) => {
          entries.set(entry.fileName, content.toString())
          zip.readEntry()
        }, reject)
      })
    })
    zip.readEntry()
  })
}
