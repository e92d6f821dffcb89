// The unit of a product: stored as a code of UN/ECE Recommendation 20, found and read by its name.
import { Autocomplete, type AutocompleteProps } from '@mantine/core';
import i18next from 'i18next';

export const unitCodes = [
  ...(['H87', 'SET', 'E48', 'LS', 'HUR', 'DAY', 'WEE', 'MON', 'ANN'] as const),
  ...(['KGM', 'LTR', 'MTR', 'MTK', 'MTQ'] as const),
] as const;

/** Undefined for a code that an office seldom uses. */
export function unitName(code: string): string | undefined {
  const known = unitCodes.find((one) => one === code);
  return known && i18next.t(`units.${known}`);
}

const optionText = (code: string) => `${unitName(code)} (${code})`;

type UnitInputProps = Pick<AutocompleteProps, 'id' | 'label' | 'error' | 'required' | 'onChange'> & {
  value: string;
};

export function UnitInput({ value, ...props }: UnitInputProps) {
  return (
    <Autocomplete
      {...props}
      value={value}
      data={[...unitCodes]}
      maxDropdownHeight={260}
      description={unitName(value)}
      inputWrapperOrder={['label', 'input', 'error', 'description']}
      renderOption={({ option }) => optionText(option.value)}
      // Someone who has chosen a unit sees the others too.
      filter={({ options, search }) =>
        unitName(search)
          ? options
          : options.filter(
              (option) =>
                'value' in option &&
                optionText(option.value).toLowerCase().includes(search.trim().toLowerCase()),
            )
      }
    />
  );
}
