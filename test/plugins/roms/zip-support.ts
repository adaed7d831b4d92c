import { buffer } from 'node:stream/consumers'
import yauzl from 'yauzl'

/** Reads a zip: entry name → content, in the order of the zip. */
export async function readZip (bytes: Buffer): Promise<Map<string, string>> {
  const zip = await new Promise<yauzl.ZipFile>((resolve, reject) => {
    yauzl.fromBuffer(bytes, { lazyEntries: true, validateEntrySizes: true }, (err, file) => {
      if (err === null) resolve(file)
      else reject(err)
    })
  })
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
