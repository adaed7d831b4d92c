// Formats: https://wiki.osdev.org/ISO_9660, https://problemkaputt.de/psxspx-cdrom-format.htm
import { createHash } from 'node:crypto'

export const SECTOR = 2048
export const md5 = (...pieces: (string | Uint8Array)[]): string => {
  const digest = createHash('md5')
  for (const piece of pieces) digest.update(piece)
  return digest.digest('hex')
}

/** Returns varied bytes that are the same each time. */
export function noise (length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length)
  let state = seed
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    bytes[at] = state >>> 16
  }
  return bytes
}

interface Folder { files: Map<string, Buffer>, folders: Map<string, Folder>, sector: number }

function toTree (files: Record<string, Buffer>): Folder {
  const root: Folder = { files: new Map(), folders: new Map(), sector: 0 }
  for (const [path, bytes] of Object.entries(files)) {
    const parts = path.split('/')
    const name = parts.pop() ?? ''
    let folder = root
    for (const part of parts) {
      const own: Folder = folder.folders.get(part) ?? { files: new Map(), folders: new Map(), sector: 0 }
      folder.folders.set(part, own)
      folder = own
    }
    folder.files.set(name, bytes)
  }
  return root
}

function record (name: string, sector: number, size: number, isFolder: boolean): Buffer {
  const bytes = Buffer.alloc(33 + name.length + (name.length % 2 === 0 ? 1 : 0))
  bytes[0] = bytes.length
  bytes.writeUInt32LE(sector, 2)
  bytes.writeUInt32LE(size, 10)
  bytes[25] = isFolder ? 2 : 0
  bytes[32] = name.length
  bytes.write(name, 33, 'latin1')
  return bytes
}

/** Makes an ISO 9660 image; `address` is the address of its first sector on the disc. */
export function makeIso (files: Record<string, Buffer>, { address = 0, head = Buffer.alloc(0) } = {}): Buffer {
  const sectors: Buffer[] = []
  const put = (at: number, bytes: Buffer) => {
    for (let part = 0; part === 0 || part * SECTOR < bytes.length; part++) {
      const sector = Buffer.alloc(SECTOR)
      bytes.copy(sector, 0, part * SECTOR, (part + 1) * SECTOR)
      sectors[at + part] = sector
    }
  }
  let next = 17
  const take = (bytes: number) => {
    const at = next
    next += Math.max(1, Math.ceil(bytes / SECTOR))
    return at
  }
  const write = (folder: Folder) => {
    folder.sector = take(SECTOR)
    const records = [record('\0', address + folder.sector, SECTOR, true), record('\x01', address, SECTOR, true)]
    for (const [name, bytes] of folder.files) {
      const at = take(bytes.length)
      put(at, bytes)
      records.push(record(`${name};1`, address + at, bytes.length, false))
    }
    for (const [name, own] of folder.folders) {
      write(own)
      records.push(record(name, address + own.sector, SECTOR, true))
    }
    put(folder.sector, Buffer.concat(records))
  }
  const root = toTree(files)
  write(root)
  const descriptor = Buffer.alloc(SECTOR)
  descriptor.write('\x01CD001\x01', 0, 'latin1')
  descriptor.writeUInt16LE(SECTOR, 128)
  record('\0', address + root.sector, SECTOR, true).copy(descriptor, 156)
  put(16, descriptor)
  put(0, head)
  return Buffer.concat(Array.from({ length: next }, (_none, index) => sectors[index] ?? Buffer.alloc(SECTOR)))
}

const digits = (number: number) => (Math.floor(number / 10) << 4) | number % 10

/** Converts an image to raw sectors as on the disc; form 1 of mode 2 has eight bytes more before the content. */
export function toRaw (image: Buffer, mode: 1 | 2, address = 0): Buffer {
  const raw: Buffer[] = []
  for (let index = 0; index * SECTOR < image.length; index++) {
    const sector = Buffer.alloc(2352)
    const time = address + index + 150
    Buffer.from('00ffffffffffffffffffff00', 'hex').copy(sector)
    sector.set([digits(Math.floor(time / 4500)), digits(Math.floor(time / 75) % 60), digits(time % 75), mode], 12)
    image.copy(sector, mode === 1 ? 16 : 24, index * SECTOR, (index + 1) * SECTOR)
    raw.push(sector)
  }
  return Buffer.concat(raw)
}

/** The image of `CHD_FILES`, packed by chdman 0.289 with the codec of this name; `dvd` by LZMA. */
export const CHDS = {
  cdlz: 'TUNvbXBySEQAAAB8AAAABWNkbHoAAAAAAAAAAAAAAAAAAAAAAADlgAAAAAAAAANwAAAAAAAAAHwAAEyAAAAJkMRx6axEuvzm1KcqufWL/9hyMA1D' +
    'LRGc3p+TPzuelrbHHX0e01glQQcAAAAAAAAAAAAAAAAAAAAAAAAAAENIVDIBAABVAAAAAAAAAABUUkFDSzoxIFRZUEU6TU9ERTEgU1VCVFlQRTpO' +
    'T05FIEZSQU1FUzoyNCBQUkVHQVA6MCBQR1RZUEU6TU9ERTEgUEdTVUI6Tk9ORSBQT1NUR0FQOjAAAAA5AABv/f//o7f/Rz5IFXI5YVG4kijmo4YH' +
    '+e7kHoLTL8U6PAFLsX7JiopNL6MN2X+m44wjEUKg8roAY2AYBaNg5AIAAAI+AACRygeooXceABMUpFaq+Y+WVYnvkBPaT2Fb7uzxoS6883+bUtw2' +
    'y0FEHFB0lprNvf+b3Qt8SoXv1xWXIGN6XT9o2LXULEGTcedFHwaQ+CBS9gYO3vG+qWfTCzOXwPEY+gqc51i0hcLr54Me0zUTrR2KlnqvybGuex29' +
    'y6BRNsPixMDtKvHRol6SoH2edFzLU0CUMzKgPnAwpfAj0bQWxLlOpbQDcIgGk+UY2t2fb6DJGvvioCtAz3fqaZotsPwwQpGMCNxTICOZtc7kxxPH' +
    '+rcb2fqWK83o8efdjq0+BmFOdDNcenyYFmCwsvoviDd9cqDEefBQgCS3/gAWl+j0hjcoDp8zLrI/3kIjSXdlIRwUfqTWRe/E/FkxfYBsSbMhZaR7' +
    'ZeGgb35+ZuC+G0cDYeNppLV+RZCC1ykRLW3f3qDnDyDgnr13wkX7jjXEgcCP1qjW82u2JnTsZ/xjQ+UFKra8p5gk5dpZsM3cm1GUFaHwp6CRUFtv' +
    'x7KpcCFFurj/R+avSBQI3CovdAZVlT3NeQbHRv/Z1cQYkLUDOR8fHdO95sEwwkrwoa0omWjynfLyXp+k3GEOt6vm3cWCa7EnSy395TKcs6tc9e/f' +
    'fWPsVQMOlIAMvVrx1KHy+si5wr0ouIKH/aOcoMzR5KjNpQ1QtXfP6vPFPFXjvDbvAYAwWCWhHiyIPJum4lsJOMVGlDE630iABxX816HVdjpPFsak' +
    '/8rWbeftfQDOPqDODtRjzd2vlHEXIFW84XIoCorFAGNgGAWjYOQCAAAAAAwAAAAAAOG8XgoAAAAREFERA0IveTSU1yw=',
  cdzl: 'TUNvbXBySEQAAAB8AAAABWNkemwAAAAAAAAAAAAAAAAAAAAAAADlgAAAAAAAAAWqAAAAAAAAAHwAAEyAAAAJkMRx6axEuvzm1KcqufWL/9hyMA1D' +
    'LRGc3p+TPzuelrbHHX0e01glQQcAAAAAAAAAAAAAAAAAAAAAAAAAAENIVDIBAABVAAAAAAAAAABUUkFDSzoxIFRZUEU6TU9ERTEgU1VCVFlQRTpO' +
    'T05FIEZSQU1FUzoyNCBQUkVHQVA6MCBQR1RZUEU6TU9ERTEgUEdTVUI6Tk9ORSBQT1NUR0FQOjAAAAAi7cEBAQAAAIIg/69uSEABAAAAAAAAAAAA' +
    'AAAAAAAAAAB8GWNgGAWjYOQCAAAEj+3aTWvcVRTA4YkrEbtQ18JQ9+F/zvm/WtxY60rtInUhCFJ8Q7BG8hH85IqtSsNzkKyCeM+mcDOQ/KY3k2fu' +
    'nYvHn0xTXJzubd7sv/Tw9I4f9cbLf+7xpx4zZsyYMWPG/I/m303ysLPNX4+4uDy9+2rpfX6Pt6++unr25PPLx198+ihOl6f3Xq3/9oEe/eDqsy+v' +
    'vpmm6XKKPx4+ZsyYMWPGjBlzz/Px06fPzh+dv/3u5vrFh1+/RpUHb42nZ8yYMWPGjBkz5vTzT798f57O1z+cn59/vbn+8eb5i0fnPxdDi6nF0uKs' +
    'xUWLqxY3Le5aPPjDO4lNwahgVTAr2BUMC5YF04Jtybb0/xfbkm3JtmRbsi3ZlmxLthXbim3lzci2YluxrdhWbCu2Fdtmts1sm9k2+zeNbTPbZrbN' +
    'bJvZNrNtYdvCtoVtC9sWv4ywbWHbwraFbQvbVratbFvZtrJtZdvq10i2rWxb2baybWPbxraNbRvbNrZtbNv8B4BtG9s2tu1s29m2s21n2862nW07' +
    '23b/dWPbzraDbQfbDrYdL9uGgO42t59F7oWDe+HgXji4Fw5Tp7GOsTNZO5O5M9k7k8EzWTyTyTPZPJPRM7myI50rG9Q1qmtY17iugV0ju4Z2tl0Y' +
    'd5GNXF1p34WBFxZemHhh44WRF1ZemHlh50U1QHelqRe2Xhh7Ye2FuRf2Xhh8YfGFyRdz8z7ElVZfmH1h94XhF5ZfmH5h+4XxF9ZfLM3bLVcagGEB' +
    'hgkYNmAYgWEFhhkYdmAYgrE27ypdaQuGMRjWYJiDYQ+GQRgWYZiEYRPG1rx5dqVZGHZhGIZhGcbrNBwCutv88zR6VxjTYU2HOR17c6biXWFRh0kd' +
    'NnUY1XG40kwMOzEMxbAU42iOjpqzIx8e2YppK6atmLZi2oppK6atmLZi2ooZzRGZK23FtBXTVkxbMW3FtBXTVszmHLA5COxOAl3ZnAU2h4HNaWBz' +
    'HNicBzYHgrZi2oppK2Y1B56utBXTVkxbMW3FtBXTVkxbMW3FtBVzbs51XWkrpq2YtmLaimkrpq2YtmLaimkr5tIcX7vSVkxbMW3FtBXTVkxbMW3F' +
    'tBXTVsy1OaV3pa2YtmLaimkr5i0rDgHdbf5+Gr0rbOu0rdO2zq25vPGusK3Ttk7bOm3r9LFr2oppK6atmLZi7s0dlSttxbQV01ZMWzFtxbQV01ZM' +
    'WzFtxTyaq7jmLs6XcbZi2YplK5atWLZi2YplK5atWLZiRXPl6EpbsWzFshXLVixbsWzFshXLVixbsbK5WXWlrVi2YtmKZSuWrVi2YjW3x831cXN/' +
    '3F0gu7K5Qm7ukJtL5OYWublGthXLVixbsWzFmpt7clfaimUrlq1YtmLZimUrlq1YtmLZirU0Hwdwpa1YtmLZimUr1m0rDgHd8T7u1dPoXWFbl21d' +
    'tnWtzadEvCts67Kty7Yu27p8Dlu2YtmKZSuWrVhb82EYV9qKZSuWrVi2YtmKZSuWrVi2YtmKtTef+XGlrVi2YtmKZSuWrVi2YtmKZSuWrVhH89Gm' +
    '25XjNWjMmDFj/gvzO2NgGAWjYOQCAAAAAA0AAAAAAOH9sAsAAAAREFERA0C7vJpNtcsA',
  cdzs: 'TUNvbXBySEQAAAB8AAAABWNkenMAAAAAAAAAAAAAAAAAAAAAAADlgAAAAAAAAANmAAAAAAAAAHwAAEyAAAAJkMRx6axEuvzm1KcqufWL/9hyMA1D' +
    'LRGc3p+TPzuelrbHHX0e01glQQcAAAAAAAAAAAAAAAAAAAAAAAAAAENIVDIBAABVAAAAAAAAAABUUkFDSzoxIFRZUEU6TU9ERTEgU1VCVFlQRTpO' +
    'T05FIEZSQU1FUzoyNCBQUkVHQVA6MCBQR1RZUEU6TU9ERTEgUEdTVUI6Tk9ORSBQT1NUR0FQOjAAAAASKLUv/WCASEUAAAgAAQB8yQ6EKLUv/WAA' +
    'Ak0AABAAAAEA+yqABQACRyi1L/1ggEjtEQAGYlQhEHXSBgAACAij52AhwwVHr1EfV3Z3b5qpcrgh6h/XPfRJZQBBAEEAmnhWJ9dq4lmd/NXEszrR' +
    'auJZnRqLiEbmA5MhaTQaD0zjpmMEJESAgqEggslwbDQLTQUFBQNZyBXbGReLiAsloeQYnMohC8REQ0XioeJycRk4OAWnMjkIZwJAcBBOwDkTsh0a' +
    'JgGaeFYn32riWZ1sq4lndXKtJp7VyV9NPKuTaTXxrE62aXd395w6eVcTz+pkXU08q5NzNfGsTsbVxLM6+VYTz+pk26uJZ/Vz/v+3OhlXE8/q5FtN' +
    'PKuTbTXxrE6u1cSzOvmriWd1Mq0mntXJ/mriWZ28q4lndc7Jupp4VifnauJZnYwbq4lndfKuJp7VybqaeFYn52riWZ3wHONq4lmdfKuJZ3WyrSae' +
    '1cm1mnhWJ3818axOptXEszrZtZp4VifvauJZnawBgaqoIdAnpTrDGIFLQQqSYQwSSCAQBBAIAgRBEII5hPBJ+ZQfyXCrYUItOZ39b62FKsWPg3Bv' +
    'WuHgHdI/zmLEgAA62FxNB/MaciVXHRF0MoyCKlH5FQ5amn2RS1aG3AIeUbWYRxHkSa1iudo1ozoNo1BKFPMKh7uoX1IKjrSfRa1UUKR6UNmmxwKn' +
    'JnDpB/9MEoVZ4RD/McNqOcjWiXTOCv748zQCn6mIf/+8TQFzJuD3n62TwJxYk1/h1nALi1gRUAloWITbOl0h/zNpQPz6V/i1Vat0XNiQPHQJ1YE3' +
    '2HoMEpu/82s4ogIotS/9YAACTQAAEAAAAQD7KoAFAAAADAAAAAAA4ZrnCgAAABEQUREDQUd5NLrXLA==',
  dvd: 'TUNvbXBySEQAAAB8AAAABWx6bWF6bGlienN0ZAAAAAAAAAAAAADAAAAAAAAAAAMaAAAAAAAAAHwAABAAAAAIAENzCtlY8dNamrQHvHis9QbdQEkp' +
    '4TUWxT+22L2TuU7RifOYSPky1WcAAAAAAAAAAAAAAAAAAAAAAAAAAERWRCABAAABAAAAAAAAAAAAKLUv/WAAD0UAAAgAAQD894EQAACRygeooXce' +
    'ABMUpFaq+Y+WVYnvkBPaT2Fb7uzxoS6883+TZcsSUsgSRJxd/1ENgEOWG7GANh27oT3ntgDRO3xinCK94Spv6DJ4oXtmhQ6pot9UHJZ8GZJpOZfA' +
    'n12jvV4icgAotS/9YAAPJQUA4kkdGXBNOgAEqeMmJjD1QNs7crGb7CZnutL/+PyomlSJZ//evJp45u/Nq4ln/d68mnjG782riWf73ryaeKbvzauJ' +
    'Z/nevJp4hu/Nq4ln9968mnilOOh5pGdSqJpUVg4JJAIICE45G5jZgkkcGAXBSU+DUYVCLIshXqgRkF//WgPg5xJIEPgP4+//3wH4GrP73jS2u701' +
    'Zuis773fXScCVL9vrSootS/9YAAPzQUAos0fFLAZhgNgSwpDD1M7UkqZkkyzLnEwm6KRO8pJ0cgd5V40ckc5F43cUS6KRu4o16KRO8qxaOSOcmvR' +
    'yB3lqmjkjnJUNHJHuSkauaOcFI3cUe5FI3eUc9HIHeWiaOSOci0auaMci0buKDcWjTxgGEgYXIMAQoHBAHAQsECQsKAwBICyqCHgZ/8O8KXtEfwK' +
    'QqCA/P8A5O57We7/bOf7rK8nleH+z3V+z3b/y3L/Z/VbPbt/XK5cZRUotS/9YAAP3QQAUsoZFKCp2Kh97l6ufzexM0XuTB7U72kDgLutqBy5u62o' +
    'HPndVlSO+G4rKkfsbisqR+puKypH6G4rKkd6txWVI7zbisqRuduKyhHp3VZUjtzdVlSO/G4rqg/HgpBYKIzDGCQMmoYAUTAYgYCBqBGQn/078FkD' +
    'EjhBYAWBESz8/f83emhFnejPf0IjH/H5TyjmcagAK/Jj2GgFpCoAAAAYAAAAAACNPfMIAAAAMBExADAxA7RHEu/fZaMbrg8Cw2tMpV1G'
}

const PROGRAM = Array.from({ length: 400 }, (_none, index) => `line ${index} of a program; `).join('')

export const CHD_FILES = {
  'SYSTEM.CNF': Buffer.from('BOOT = cdrom:\\SLUS_000.01;1\r\n'),
  'SLUS_000.01': Buffer.from(PROGRAM)
}
