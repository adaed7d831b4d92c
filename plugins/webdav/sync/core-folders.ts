/** Slugs of platforms, and the folders of the cores that emulate them: `corename` in RetroArch's core info files. */
const CORES: readonly (readonly [platforms: string, cores: string])[] = [
  ['nes famicom fds', 'Nestopia, FCEUmm, Mesen, QuickNES'],
  ['snes sfam satellaview sufami-turbo', 'Snes9x, Snes9x 2002, Snes9x 2005, Snes9x 2005 Plus, Snes9x 2010, bsnes, bsnes 2014 Accuracy, ' +
    'bsnes 2014 Balanced, bsnes 2014 Performance, bsnes-hd beta, bsnes-jg, bsnes-mercury Accuracy, bsnes-mercury Balanced, ' +
    'bsnes-mercury Performance, Beetle bsnes, Beetle Supafaust'],
  ['snes sfam satellaview sufami-turbo gb gbc', 'Mesen-S'],
  ['gb gbc', 'Gambatte, SameBoy, Gearboy, TGB Dual, DoubleCherryGB'],
  ['gb gbc gba', 'mGBA, VBA-M'],
  ['gba', 'gpSP, VBA Next, Beetle GBA'],
  ['nds nintendo-dsi', 'melonDS DS, melonDS, DeSmuME, DeSmuME 2015, NooDS'],
  ['3ds', 'Citra, Azahar, Panda3DS'],
  ['n64 64dd', 'Mupen64Plus-Next, ParaLLEl N64'],
  ['ngc wii', 'dolphin-emu, Ishiiruka'],
  ['virtualboy', 'Beetle VB'],
  ['pokemon-mini', 'PokeMini'],
  ['genesis sms gamegear sg1000 segacd sega-pico', 'Genesis Plus GX, Genesis Plus GX Wide'],
  ['genesis sms gamegear sg1000 segacd sega-pico sega32', 'PicoDrive'],
  ['genesis', 'BlastEm, ClownMDEmu'],
  ['sms gamegear sg1000', 'Gearsystem, SMS Plus GX'],
  ['saturn stv', 'Beetle Saturn, Kronos, YabaSanshiro, Yabause'],
  ['dc arcade', 'Flycast'],
  ['psx', 'Beetle PSX, Beetle PSX HW, PCSX-ReARMed, SwanStation, DuckStation'],
  ['ps2', 'LRPS2, PCSX2, Play!'],
  ['psp', 'PPSSPP'],
  ['tg16 turbografx-cd supergrafx', 'Beetle PCE, Beetle PCE Fast, Beetle SuperGrafx, Geargrafx'],
  ['pc-fx', 'Beetle PC-FX'],
  ['arcade cps1 cps2 cps3 neogeoaes neogeomvs', 'FinalBurn Neo, MAME, MAME 2000, MAME 2003-Plus, MAME 2003 (0.78), MAME 2010 (0.139), ' +
    'FB Alpha 2012, FB Alpha 2012 CPS-1, FB Alpha 2012 CPS-2, FB Alpha 2012 CPS-3, FB Alpha 2012 Neo Geo'],
  ['neogeoaes neogeomvs', 'Geolith'],
  ['neo-geo-cd', 'NeoCD'],
  ['neo-geo-pocket neo-geo-pocket-color', 'Beetle NeoPop, RACE'],
  ['wonderswan wonderswan-color', 'Beetle WonderSwan'],
  ['lynx', 'Handy, Beetle Lynx, Holani'],
  ['atari2600', 'Stella, Stella 2014, Stella 2023'],
  ['atari5200 atari8bit', 'Atari800, a5200'],
  ['atari7800', 'ProSystem'],
  ['jaguar', 'Virtual Jaguar'],
  ['atari-st', 'Hatari'],
  ['3do', 'Opera'],
  ['amiga amiga-cd32 commodore-cdtv', 'PUAE, PUAE 2021'],
  ['c64', 'VICE x64, VICE x64sc'],
  ['msx msx2', 'blueMSX, fMSX'],
  ['colecovision', 'Gearcoleco'],
  ['intellivision', 'FreeIntv'],
  ['vectrex', 'vecx'],
  ['odyssey-2', 'O2EM'],
  ['supervision', 'Potator'],
  ['dos', 'DOSBox-pure, DOSBox-core'],
  ['scummvm', 'ScummVM'],
  ['zxs', 'Fuse'],
  ['acpc', 'Caprice32'],
  ['sharp-x68000', 'PX68k'],
  ['pc-9800-series', 'Neko Project II Kai'],
  ['pc-8800-series', 'QUASI88'],
  ['tic-80', 'TIC-80']
]

const fold = (name: string) => name.toLowerCase().replaceAll(/[ _-]/g, '')

const PLATFORMS_BY_CORE: ReadonlyMap<string, ReadonlySet<string>> = new Map(CORES.flatMap(([platforms, cores]) =>
  cores.split(', ').map((core) => [fold(core), new Set(platforms.split(' '))] as const)))
const EMULATED = new Set(CORES.flatMap(([platforms]) => platforms.split(' ')))

/** Returns the slugs of the platforms that a core emulates; null for an unknown core. */
export const platformsOf = (coreFolder: string): ReadonlySet<string> | null =>
  PLATFORMS_BY_CORE.get(fold(coreFolder)) ?? null

/** True if some known core emulates the platform with this slug. */
export const isEmulated = (slug: string): boolean => EMULATED.has(slug)

/** Returns the name of an emulator that assets have for the saves of a core. */
export const emulatorOf = (coreFolder: string): string => coreFolder.toLowerCase().replaceAll(/[ -]/g, '_')
