export const READABLE = { roms: { snes: { 'a.sfc': 'a' } } }
