"""Files of results of benchmarks, in the format that the scripts in benchmarks/ write, with made-up numbers."""

import json

MACHINE = {"processor": "a processor", "cores": 2, "threads": 2, "memory_gb": 24, "gpu": None, "python": "3.11.7"}


def times(best):
    return {"best": best, "median": 1.1 * best, "largest": 1.25 * best}


def affinity_rows(samples=(128, 512), widths=(64, 128, 256, 512, 1024, 2048, 4096), slowest=1024):
    """Textbook times that grow like d**3, and our own like d**2 up to d = 2n; above ``slowest`` no textbook."""
    rows = []
    for n in samples:
        for d in widths:
            row = {"n": n, "d": d, "affscore": times(1e-8 * n * min(d, 2 * n) ** 2), "score": 0.7}
            row["memory_mb"] = {"affscore": 3e-5 * n * d}
            if d <= slowest:
                row["textbook"] = times(1e-6 * n * d**3 / 512)
                row["ratio"] = row["textbook"]["best"] / row["affscore"]["best"]
                row["difference"] = 1e-12
                row["memory_mb"]["textbook"] = 1e-4 * d**2
            rows.append(row)
    return rows


def signature_rows(models=("resnet18", "vit_b_16"), device="cpu"):
    rows = []
    for k, model in enumerate(models):
        row = {"model": model, "n": 512, "batch_size": 64, "device": device, "plain": times(10.0 + k)}
        row |= {"scores": times(10.5 + k), "criteria": times(12.0 + k), "activations": 17}
        row |= {"ratio_scores": 10.5 / 10 + k / 100, "ratio_criteria": 1.2 + k / 100}
        if k == 0:  # not in older files
            row |= {f"spread_{name}": {"smallest": 1.0, "largest": 1.5} for name in ("scores", "criteria")}
        if device == "cpu":
            row["memory_mb"] = {"plain": 900.0, "scores": 1000.0 + k}
        rows.append(row)
    return rows


def multiverse_rows(models=("mini:resnet18", "resnet18")):
    rows = []
    for k, model in enumerate(models):
        row = {"model": model, "weights": "random", "dataset": "noise", "n": 512, "batch_size": 64, "device": "cpu"}
        row |= {"signature": times(2.0), "multiverse": times(6.0 - k), "separate": times(12.0)}
        row |= {"ratio_multiverse": 3.0 - k / 2, "ratio_separate": 6.25}
        row |= {f"spread_{name}": {"smallest": 1.5, "largest": 6.5} for name in ("multiverse", "separate")}
        rows.append({**row, "activations": 17, "specifications": 12, "signatures": 6})
    return rows


def track_rows(overhead=0.012):
    row = {"model": "resnet18", "how": "a measurement beside steps", "n": 256, "batch_size": 64, "device": "cpu"}
    row |= {"every": 100, "activations": 17, "counted": 2, "steps": times(8.0), "measurement": times(5.0)}
    return [{**row, "overhead": overhead, "spread_overhead": {"smallest": 0.01, "largest": 0.02}}]


def penalty_rows(ratio=1.2):
    row = {"model": "resnet18", "weights": "random", "how": "224 pixels", "device": "cpu", "batch_size": 128}
    row |= {"size": 224, "activations": 17, "plain": times(8.0), "penalised": times(8.0 * ratio)}
    return [{**row, "ratio_penalised": ratio, "spread_penalised": {"smallest": 1.1, "largest": 1.4}}]


def agreement_rows(models=("squeezenet1_1", "mobilenet_v2")):
    return [
        {
            "model": model, "dataset": "folder", "n": 512, "activations": 26, "compared": 26, "width_max": 1000,
            "largest_difference": 1e-10,
        }
        for model in models
    ]  # fmt: skip


def write(folder, name, rows, machine=MACHINE):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"machine": machine, "rows": rows}))
    return path
