import fc from 'fast-check'
import t from 'tap'
import { parseDate } from '../src/readers/index.ts'

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October',
  'November', 'December']

t.test('a date is parsed with the precision of its text', async (t) => {
  const year = { at: Date.UTC(1992, 0, 1), precision: 'year' }
  const month = { at: Date.UTC(1992, 10, 1), precision: 'month' }
  const day = { at: Date.UTC(1992, 10, 21), precision: 'day' }
  for (const text of ['1992', ' 1992 ', '1992-00-00', '1992-00']) t.same(parseDate(text), year, text)
  for (const text of ['1992-11', '1992-11-00', 'Nov 1992', 'november, 1992']) t.same(parseDate(text), month, text)
  for (const text of ['1992-11-21', '1992-11-21T23:59:00-08:00', '1992-11-21 00:00:00', '21 Nov, 1992', '21. November 1992',
    'November 21, 1992', 'Nov. 21st, 1992', 'NOV 21, 1992']) t.same(parseDate(text), day, text)
})

t.test('text that is no date or no calendar day returns undefined', async (t) => {
  for (const text of ['', 'soon', 'TBA 1992', '92', '0000', '1992-13', '1992-02-30', '30 February 1992', '21 Foo 1992',
    '1992/11/21', '1992-11-21x', '99999']) t.equal(parseDate(text), undefined, text)
})

t.test('every day is parsed from each of its notations', async () => {
  const dates = fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true })
  fc.assert(fc.property(dates, (date) => {
    const iso = date.toISOString()
    const [year = '', , day = ''] = iso.slice(0, 10).split('-')
    const month = MONTHS[date.getUTCMonth()] ?? ''
    const at = Date.parse(iso.slice(0, 10))
    return [iso, iso.slice(0, 10), `${day} ${month.slice(0, 3)}, ${year}`, `${month} ${Number(day)}, ${year}`]
      .every((text) => parseDate(text)?.at === at && parseDate(text)?.precision === 'day')
  }))
})

t.test('any text returns a date with a four-digit year or undefined', async () => {
  const part = fc.constantFrom('1992', '0', '11', '31', '-', ' ', ',', 'nov', 'May', 't', '.', 'st', '\n')
  const texts = fc.oneof(fc.string(), fc.array(part, { maxLength: 7 }).map((parts) => parts.join('')))
  fc.assert(fc.property(texts, (text) => {
    const date = parseDate(text)
    return date === undefined || (date.at >= Date.parse('0001-01-01') && date.at <= Date.parse('9999-12-31'))
  }))
})
