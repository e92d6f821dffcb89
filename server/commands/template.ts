import { columnsOf } from '../../core/table/columns.ts';
import { byteOrderMark, toCsvLine } from '../../core/table/csv/csv.ts';
import { describeDefinition } from '../engine/definition/description.ts';
import { UsageError } from '../errors.ts';
import type { Language } from '../messages.ts';
import { resources } from '../resources/index.ts';
import type { Command } from './command.ts';

const template: Command = {
  name: 'template',
  summary: 'Print an empty CSV with the titles of all columns, to fill in and import.',
  arguments: { type: `What the rows will be: ${resources.map(({ name }) => name).join(', ')}.` },
  options: {},
  optionalOptions: { language: 'Language of the titles: de (if absent) or en.' },
  async run({ options }) {
    const { type, language = 'de' } = options;
    const definition = resources.find(({ name }) => name === type);
    if (!definition) {
      throw new UsageError(
        `There is no type "${type}". Known are: ${resources.map(({ name }) => name).join(', ')}.`,
      );
    }
    if (language !== 'de' && language !== 'en') throw new UsageError('--language must be de or en.');
    const titles = columnsOf(describeDefinition(definition)).map(
      (column) => column.titles[language satisfies Language],
    );
    // A semicolon in both languages: with it numbers are read alike, and a German spreadsheet opens it in columns.
    return { text: `${byteOrderMark}${toCsvLine(titles, ';').trimEnd()}`, json: { type, titles } };
  },
};

export const commands: readonly Command[] = [template];
