"""Write the golden tables."""

from tests.golden.measured import FOLDER, measured

if __name__ == "__main__":
    for name, table in measured().items():
        table.to_csv(FOLDER / f"{name}.csv", index=False, float_format="%.7g")
