import t from 'tap'
import { minimumAge, strictestAge } from '../src/ages.ts'

const AGES: Record<string, Record<string, number | undefined>> = {
  ESRB: { EC: 3, E: 6, 'K-A': 6, 'E10+': 10, T: 13, M: 17, AO: 18 },
  CERO: { A: 0, B: 12, C: 15, D: 17, Z: 18 },
  ACB: { G: 0, PG: 8, M: 15, 'MA 15+': 15, 'R 18+': 18, 'X 18+': 18, RC: 18 },
  OFLC: { G: 0, 'MA15+': 15, R13: 13, R15: 15, R16: 16, R18: 18, RP13: 13, RP16: 16, RP18: 18 },
  BBFC: { U: 0, PG: 8, 12: 12, '12A': 12, 15: 15, 18: 18, R18: 18 },
  PEGI: { 3: 3, 7: 7, 12: 12, 16: 16, 18: 18 },
  USK: { 0: 0, 6: 6, 'ab 12': 12, 16: 16, 18: 18 },
  GRAC: { ALL: 0, '12+': 12, '15+': 15, '19+': 19 },
  CLASS_IND: { L: 0, 10: 10, 18: 18 },
  DJCTQ: { L: 0, 14: 14 },
  DEJUS: { 12: 12 },
  KGRB: { '12+': 12 },
  SS: { 3: 3, 18: 18 },
  ELSPA: { '11+': 11 },
  JV: { 21: 21 },
  CSRR: { G: 0, 'PG 12': 12, R: 18, 18: 18 },
  EOCS: { 12: 12, R: 18 },
  ESRA: { '+3': 3, '+18': 18 },
  FPB: { PG: undefined, '7-9PG': 7, 13: 13, 18: 18 },
  GRB: { ALL: 0, 15: 15, AD: 18 },
  IARC: { '12+': 12, '18+': 18 },
  IGAC: { 16: 16 },
  INCAA: { ATP: 0, SAM16: 16 },
  KMRB: { 18: 18, AD: 18 },
  MDA: { M18: 18, M: 18 },
  MTRCB: { 'R-13': 13, 'R-18': 18 },
  SELL: { TP: 0, 12: 12, Red: 18 },
  Tectoy: { 12: 12 },
  VET: { 'K-15': 15 },
  VRC: { GA: 0, 'MA-13': 13, 'MA-17': 17 },
  SEGA: { 18: 18, 2: undefined }
}

t.test('minimumAge knows the ages of every board in every notation', async (t) => {
  for (const [board, ratings] of Object.entries(AGES)) {
    for (const [rating, age] of Object.entries(ratings)) {
      t.equal(minimumAge(board, rating), age, `${board} ${rating}`)
      t.equal(minimumAge(board.toLowerCase(), ` ${rating.toLowerCase()} `), age, `${board} ${rating} in small letters`)
    }
  }
})

t.test('a rating without an age returns undefined', async (t) => {
  for (const [board, rating] of [
    ['ESRB', 'RP'], ['ESRB', '12'], ['ESRB', ''], ['GRAC', 'TESTING'], ['CERO', 'constructor'],
    ['Nobody', '12'], ['', '12'], ['constructor', 'E']
  ] as const) t.equal(minimumAge(board, rating), undefined, `${board} ${rating}`)
})

t.test('an age above 21 counts as 21', async (t) => {
  t.same(['22', '25+', '180', '1000000000000000000000'].map((rating) => minimumAge('PEGI', rating)), [21, 21, 21, 21])
})

t.test('the strictest of several ratings counts', async (t) => {
  t.equal(strictestAge([{ board: 'ESRB', rating: 'E' }, { board: 'PEGI', rating: '12' }, { board: 'ESRB', rating: 'RP' }]), 12)
  t.equal(strictestAge([{ board: 'USK', rating: '0' }]), 0)
  t.equal(strictestAge([{ board: 'ESRB' }, {}]), undefined)
})
