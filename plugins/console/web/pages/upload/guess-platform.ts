/** Extensions that belong to one platform only, with its slug. Others, such as `iso` and `zip`, tell nothing. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  sfc: 'snes', smc: 'snes', nes: 'nes', fds: 'fds', gb: 'gb', gbc: 'gbc', gba: 'gba', n64: 'n64', z64: 'n64', v64: 'n64', nds: 'nds',
  '3ds': '3ds', cia: '3ds', wbfs: 'wii', wad: 'wii', gcm: 'ngc', rvz: 'ngc', nsp: 'switch', xci: 'switch', md: 'genesis', gen: 'genesis', smd: 'genesis', sms: 'sms',
  gg: 'gamegear', '32x': 'sega32', gdi: 'dc', pce: 'tg16', ngp: 'neo-geo-pocket', ngc: 'neo-geo-pocket-color', ws: 'wonderswan', wsc: 'wonderswan-color',
  a26: 'atari2600', a52: 'atari5200', a78: 'atari7800', lnx: 'lynx', j64: 'jaguar', d64: 'c64', adf: 'amiga', vb: 'virtualboy', vec: 'vectrex', col: 'colecovision',
  int: 'intellivision', p8: 'pico', z80: 'zxs', tzx: 'zxs'
}

/** @returns the slug of the platform that an extension belongs to; null if it does not tell, or the slug is unknown */
export function guessPlatform (name: string, slugs: ReadonlySet<string>): string | null {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  const slug = Object.hasOwn(EXTENSIONS, extension) ? EXTENSIONS[extension] : undefined
  return slug !== undefined && slugs.has(slug) ? slug : null
}
