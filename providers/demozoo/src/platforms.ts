import { PLATFORMS, type PlatformEntry } from '@svc/plugin-sdk'

/** Demozoo's ids. Its one entry each for the Neo Geos, their pockets and the Thomsons is none of ours. */
const IDS: Readonly<Record<string, PlatformEntry>> = {
  ...{ win: 1, zxs: [2, 69], c64: 3, dos: 4, amiga: [5, 6, 26], 'atari-st': 9, psx: 13, xbox360: 15, atari8bit: 16 },
  ...{ 'vic-20': 21, genesis: 22, dc: 23, wii: 24, nes: 25, famicom: 25, ps2: 28, psp: 29, gba: 30, msx: 31, nds: 32, snes: 34, sfam: 34 },
  ...{ acpc: 36, gbc: 37, gb: 38, n64: 39, xbox: 40, 'c-plus-4': 41, vectrex: 43, sms: 44, zx81: 45, jaguar: 50, atari2600: 54 },
  ...{ 'apple-iigs': 57, ngc: 60, appleii: 67, ps3: 68, lynx: 70, '3ds': 71, tg16: 75, intellivision: 85, atari7800: 86 },
  ...{ cpet: 90, colecovision: 91, 'tic-80': 92, mac: 94, wonderswan: 97, 'sharp-x68000': 100, gamegear: 102 }
}

/** On other platforms a production is looked for among those of all. */
export const PLATFORM_IDS: Readonly<Record<string, PlatformEntry>> =
  { ...Object.fromEntries(PLATFORMS.map(({ slug }) => [slug, true])), ...IDS }
